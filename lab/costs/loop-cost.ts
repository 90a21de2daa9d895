import { readFileSync } from "node:fs";
import { serialize } from "node:v8";

import { webGpuBackend } from "../../src/backends/gpu/webgpu-backend.ts";
import { EngineHost } from "../../src/host/engine-host.ts";
import { memoryTuningStore } from "../../src/host/platforms/tuning-store.ts";
import { ONE_WAY } from "../../src/protocol/one-way.ts";
import { medianOf } from "../statistics.ts";
import { nullGpu } from "./null-gpu.ts";

const FILES = ["config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors"];
const TOKENS = 480;
const BATCHES = 3;

export type LoopCost = Awaited<ReturnType<typeof measureLoopCost>>;

/**
 * Measures all JavaScript of a step in the engine's worker in Node: the host, the engine and the GPU's runner are real, the
 * GPU is not, and messages are serialised but go nowhere.
 * @param folder of the model
 * @param isWatched whether steps have a listener
 */
export async function measureLoopCost(folder: string, sequences: number, isWatched: boolean, rounds = 5) {
  const { gpu, calls } = nullGpu();
  const host = new EngineHost({
    backends: [{ name: "webgpu", load: () => Promise.resolve(webGpuBackend(gpu)) }],
    reference: null,
    runtime: "Node",
    tuning: memoryTuningStore(),
    openGrammarThread: null,
    openTextThread: null,
    openModelStore: () => Promise.resolve(null),
    now: () => performance.now(),
  });
  let messageBytes = 0;
  const postMessage = (message: unknown) => void (messageBytes += serialize(message).length);
  const post = ONE_WAY.handler.deserialize({ postMessage } as unknown as MessagePort);
  const ends = new Map<number, () => void>();
  const files = FILES.map((name) => new File([readFileSync(`${folder}/${name}`)], name));
  const loaded = await host.load(
    { type: "files", files },
    { backend: "webgpu", numGpuBlocks: 2048, logLevel: "silent" },
    (message) => {
      post(message);
      for (const { type, ticket } of message.events) if (type === "end") ends.get(ticket)?.();
    },
    () => undefined,
  );
  if (!loaded.ok) throw new Error(loaded.error.message);
  // A checkout to compare with may be older than this method: it always reports.
  if (isWatched && "requestReports" in host) host.requestReports("steps", true);
  let lastTicket = 0;
  const decode = (maxTokens: number) =>
    Promise.all(
      Array.from({ length: sequences }, (_, i) => {
        const draws = { temperature: 1, top_k: 0, top_p: 1, ignore_eos: true };
        const body = { prompt: `Once ${i} upon a time`, max_tokens: maxTokens, stream: true, ...draws };
        const ticket = ++lastTicket;
        host.submit(ticket, { endpoint: "completions", body });
        return new Promise<void>((resolve) => void ends.set(ticket, resolve));
      }),
    );
  for (let i = 0; i < BATCHES; i++) await decode(TOKENS);
  const stepsNow = () => host.stats().engine_steps_total;
  const stepsBefore = stepsNow();
  messageBytes = 0;
  for (const name of Object.keys(calls)) calls[name] = 0;
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const [before, firstStep] = [process.cpuUsage(), stepsNow()];
    for (let i = 0; i < BATCHES; i++) await decode(TOKENS);
    const { user, system } = process.cpuUsage(before);
    times.push((user + system) / (stepsNow() - firstStep));
  }
  const steps = stepsNow() - stepsBefore;
  host.dispose();
  return {
    sequences,
    isWatched,
    /** Processor time of the process, garbage collection included, in microseconds a step: the median of `rounds`. */
    cpuUs: medianOf(times),
    /** Size of the messages to the page, by structured clone. */
    messageBytes: messageBytes / steps,
    /** Calls of WebGPU in a step, by name. */
    calls: Object.fromEntries(Object.entries(calls).map(([name, count]) => [name, count / steps])),
  };
}
