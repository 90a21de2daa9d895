import { isTiming, type Batch, type KernelTiming } from "../../state/batch/batch.ts";
import { playRecording } from "../../state/player/handed-over.ts";
import { Menu } from "../components/Menu.tsx";
import { useStore } from "../use-store.ts";
import { saveFile } from "../save-file.ts";

/** Saves the engine's events for readRecording(), or its metrics for Prometheus; or plays the events at once. */
export function SaveMenu({ batch }: { batch: Batch }) {
  const timing = useStore(batch.kernelTiming);
  const { obstacle } = timing;
  const reason = obstacle === null ? "" : ` (${obstacle})`;
  const items = [
    { label: "Play this run", run: () => playRun(batch) },
    { label: "Recording of this run, with the chats' words", run: () => saveRecording(batch) },
    {
      label: `${kernelTimingTitle(timing)}${reason}`,
      isDisabled: obstacle !== null,
      run: () => batch.toggleKernelTiming(),
    },
    { label: "Metrics as Prometheus text", run: () => void saveMetrics(batch) },
  ];
  return <Menu name="Save" look="quiet" items={items} />;
}

export const kernelTimingTitle = (timing: KernelTiming) =>
  isTiming(timing) ? "Stop timing kernels" : "Start timing kernels";

/** Opens the player with the run so far. */
export function playRun(batch: Batch): void {
  const text = batch.recording();
  if (text !== null) playRecording("this run", text);
}

/** For the player, and for readRecording(). */
export function saveRecording(batch: Batch): void {
  const text = batch.recording();
  if (text !== null) saveFile("chorus-run.jsonl", text, "application/jsonl");
}

export async function saveMetrics(batch: Batch): Promise<void> {
  const text = await batch.prometheusText();
  if (text !== null) saveFile("chorus-metrics.txt", text, "text/plain");
}
