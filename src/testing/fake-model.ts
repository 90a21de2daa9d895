// The library without a device: its host, scheduler, API and client are real, and so is the embedded model's tokenizer.
// Only the numbers are made up, by a fake runner.

import { readFileSync } from "node:fs";

import type { Backend } from "../backends/backend.ts";
import { EngineClient } from "../client/engine-client.ts";
import type { Runner } from "../engine/runner.ts";
import { EngineHost } from "../host/engine-host.ts";
import type { Platform } from "../host/platforms/platform.ts";
import { memoryTuningStore } from "../host/platforms/tuning-store.ts";
import type { EngineConfig } from "../protocol/config.ts";
import { FakeRunner } from "./fake-runner.ts";

const FOLDER = "public/models/chorus-chat";
const FILES = [
  "config.json",
  "generation_config.json",
  "tokenizer.json",
  "tokenizer_config.json",
  "chat_template.jinja",
  "model.safetensors",
];

export interface FakeModel {
  readonly engine: EngineClient;
  /** Lets no step end until `resume`. */
  pause(): void;
  resume(): void;
}

/** Opens the embedded model under the name "chorus-chat", without its weights' numbers. */
export async function openFakeModel(config: EngineConfig = {}): Promise<FakeModel> {
  let gate = Promise.resolve();
  let resume: () => void = () => undefined;
  const backend: Omit<Backend, "open"> = { name: "webgpu", memory: () => ({ weightBytes: 0, kvCacheBytes: 0 }) };
  const open: Backend["open"] = async () => ({
    ...backend,
    adapterName: "Fake",
    isSoftware: false,
    failure: new Promise(() => undefined),
    usualDtype: () => "f32",
    checkFits: () => undefined,
    load: async ({ engine, weights }) => {
      const runner = new FakeRunner({ ...engine, vocabSize: weights.model.shape.vocabSize });
      const submit: Runner["submit"] = async (plan) => {
        const result = runner.submit(plan);
        // As on a device, others get their turn while a step runs.
        await new Promise((resolve) => setImmediate(resolve));
        await gate;
        return result;
      };
      return { submit, weightBytes: 0, adapterName: "Fake", dispose: () => undefined };
    },
    close: () => undefined,
  });
  const platform: Platform = {
    backends: [{ name: "webgpu", load: () => Promise.resolve({ ...backend, open }) }],
    tuning: memoryTuningStore(),
    openModelStore: () => Promise.resolve(null),
    now: () => performance.now(),
  };
  const transport = {
    service: new EngineHost(platform),
    died: new Promise<never>(() => undefined),
    close: () => undefined,
  };
  const files = FILES.map((name) => inFolder(new File([readFileSync(`${FOLDER}/${name}`)], name)));
  const quiet = { logLevel: "silent", ...config } as const;
  return {
    engine: await EngineClient.connect(transport, { type: "files", files }, quiet),
    pause: () => void (gate = new Promise((resolve) => (resume = resolve))),
    resume: () => resume(),
  };
}

/** The folder's name is the model's. */
function inFolder(file: File): File {
  return Object.defineProperty(file, "webkitRelativePath", { value: `chorus-chat/${file.name}` });
}
