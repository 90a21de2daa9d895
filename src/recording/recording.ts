import type { ChorusEngine } from "../protocol/engine.ts";
import { ChorusError } from "../protocol/errors.ts";
import type { WordsReport } from "../protocol/reports.ts";
import { VERSION } from "../version.ts";
import { FORMAT, recordedConfig, type RecordedEvent } from "./recording-format.ts";

export interface RunRecorder {
  /** Returns the recording so far, for readRecording(). */
  text(): string;
  /**
   * Starts or stops recording the times of each kernel, of one step of eight: such a step takes longer. There are none on the
   * CPU, nor on GPUs without timestamp queries.
   */
  timeKernels(isRequested: boolean): void;
  /** Ends the recording and returns it. */
  stop(): string;
}

/** Records an engine's events from now on, words included; with `mostEvents` only the newest. */
export function recordRun(
  engine: Pick<ChorusEngine, "model" | "config" | "on">,
  { mostEvents = Infinity }: { readonly mostEvents?: number } = {},
): RunRecorder {
  if (typeof engine !== "object" || engine === null || typeof engine.on !== "function") {
    throw new ChorusError("invalid_type", "recordRun takes an engine, as createEngine gives it.", "engine");
  }
  const { model } = engine;
  const header = { type: "header", version: FORMAT, app: VERSION, model, config: recordedConfig(engine.config) };
  let lines: string[] = [];
  const add = (type: RecordedEvent["type"]) => (event: object) => {
    lines.push(JSON.stringify({ type, ...event }));
    // Done rarely, since this moves all remaining events.
    if (lines.length >= 2 * mostEvents) lines = lines.slice(-mostEvents);
  };
  const text = () => `${[JSON.stringify(header), ...lines.slice(-mostEvents)].join("\n")}\n`;
  const unsubscribe = [
    engine.on("step", add("step")),
    engine.on("request", add("request")),
    engine.on("words", ({ status, ...words }: WordsReport) => add(status)(words)),
    engine.on("alert", add("alert")),
  ];
  let untime: (() => void) | null = null;
  let isStopped = false;
  const timeKernels = (isRequested: boolean) => {
    untime?.();
    untime = isRequested && !isStopped ? engine.on("kernels", add("kernels")) : null;
  };
  return {
    text,
    timeKernels,
    stop() {
      isStopped = true;
      timeKernels(false);
      for (const off of unsubscribe) off();
      return text();
    },
  };
}
