// The library: createEngine, its types and its error.

import { EngineClient } from "./client/engine-client.ts";
import { startWorker } from "./client/worker-transport.ts";
import type { Transport } from "./client/transport.ts";
import type { ChorusEngine, CreateEngineOptions } from "./protocol/engine.ts";
import { ChorusError } from "./protocol/errors.ts";

export { recordRun, readRecording, type RecordedEvent, type Recording } from "./client/recording.ts";
export { ChorusError, type ChorusErrorCode, type ChorusErrorData } from "./protocol/errors.ts";
export type * from "./protocol/config.ts";
export type * from "./protocol/engine.ts";
export type * from "./protocol/openai.ts";
export type * from "./protocol/reports.ts";

/**
 * Loads a model and starts an engine, in a Web Worker unless `worker: false` is given.
 *
 * @throws ChorusError webgpu_unavailable, model_*, out_of_memory, or for a config field, named by `param`.
 */
export async function createEngine(options: CreateEngineOptions): Promise<ChorusEngine> {
  if (typeof options !== "object" || options === null) {
    throw new ChorusError("invalid_type", 'createEngine takes an object, such as { model: "/models/name/" }.');
  }
  const { model, onProgress, worker = true, gpu, ...config } = options;
  if (typeof worker !== "boolean") throw new ChorusError("invalid_type", "worker must be true or false.", "worker");
  if (gpu && worker) {
    throw new ChorusError("invalid_value", "gpu can be given with worker: false only: a worker has its own.", "gpu");
  }
  const transport = worker ? await startWorker() : await inPlace(gpu);
  // A worker would resolve a relative URL against its own script.
  const base = globalThis.document?.baseURI ?? globalThis.location?.href;
  const source = typeof model === "string" && URL.canParse(model, base) ? new URL(model, base).href : model;
  return EngineClient.connect(transport, source, config, onProgress);
}

async function inPlace(gpu: GPU | undefined): Promise<Transport> {
  const { EngineHost } = await import("./worker/engine-host.ts");
  return {
    service: new EngineHost({ gpu: gpu ?? globalThis.navigator?.gpu }),
    died: new Promise(() => undefined),
    close: () => undefined,
  };
}
