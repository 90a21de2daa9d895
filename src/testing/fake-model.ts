// The library without a device: its host, scheduler, API and client are real, and so is the embedded model's tokenizer.
// Only the numbers are made up, by a fake runner.

import { readFileSync } from "node:fs";

import { EngineClient } from "../client/engine-client.ts";
import { EngineHost } from "../host/engine-host.ts";
import type { EngineConfig } from "../protocol/config.ts";
import { FakeBackend } from "./fake-backend.ts";
import { fakePlatform } from "./fake-platform.ts";
import { grammarPortInPlace } from "./grammars.ts";
import type { VirtualClock } from "./virtual-clock.ts";

const FOLDER = "public/models/chorus-chat";
const FILES = [
  "config.json",
  "generation_config.json",
  "tokenizer.json",
  "tokenizer_config.json",
  "chat_template.jinja",
  "model.safetensors",
];

/** Of a virtual clock. */
const STEP_MS = 40;

export interface FakeModel {
  readonly engine: EngineClient;
  readonly backend: FakeBackend;
  /** Lets no step end until `resume`. */
  pause(): void;
  resume(): void;
}

/** Opens the embedded model under the name "chorus-chat", without its weights' numbers. */
export async function openFakeModel(config: EngineConfig = {}, clock: VirtualClock | null = null): Promise<FakeModel> {
  const backend = new FakeBackend("webgpu", "Fake");
  if (clock !== null) backend.stepTime = () => clock.sleep(STEP_MS);
  let resume: () => void = () => undefined;
  const platform = fakePlatform([backend], {
    // Without a clock requests that are made together arrive together.
    ...(clock !== null && { openGrammarThread: grammarPortInPlace }),
    ...(clock !== null && { now: () => clock.nowMs }),
  });
  const transport = {
    service: new EngineHost(platform),
    died: new Promise<never>(() => undefined),
    close: () => undefined,
  };
  const files = FILES.map((name) => inFolder(new File([readFileSync(`${FOLDER}/${name}`)], name)));
  const quiet = { logLevel: "silent", ...config } as const;
  return {
    backend,
    engine: await EngineClient.connect(transport, { type: "files", files }, quiet),
    pause: () => void (backend.gate = new Promise((resolve) => (resume = resolve))),
    resume: () => resume(),
  };
}

/** The folder's name is the model's. */
function inFolder(file: File): File {
  return Object.defineProperty(file, "webkitRelativePath", { value: `chorus-chat/${file.name}` });
}
