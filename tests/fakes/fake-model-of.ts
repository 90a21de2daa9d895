// The library without a device: its host, scheduler, API and client are real, and so is the model's tokenizer. Only the
// numbers are made up, by a fake runner. In Node and in browsers.

import { EngineClient } from "../../src/client/engine-client.ts";
import { EngineHost } from "../../src/host/engine-host.ts";
import type { EngineConfig } from "../../src/protocol/config.ts";
import { FakeBackend } from "./fake-backend.ts";
import { fakePlatform } from "./fake-platform.ts";
import { grammarPortInPlace } from "../requests/grammars.ts";
import type { VirtualClock } from "./virtual-clock.ts";

/** Milliseconds of a virtual clock. */
const STEP_MS = 40;

/** The embedded model's, in public/models/chorus-chat. */
export const FAKE_MODEL_FILES = [
  "config.json",
  "generation_config.json",
  "tokenizer.json",
  "tokenizer_config.json",
  "chat_template.jinja",
  "model.safetensors",
] as const;

export interface FakeModel {
  readonly engine: EngineClient;
  readonly backend: FakeBackend;
  /** Lets no step end until `resume`. */
  pause(): void;
  resume(): void;
}

/** Opens a model's files under the name "chorus-chat", without its weights' numbers. */
export async function openFakeModelOf(
  files: readonly File[],
  config: EngineConfig = {},
  clock: VirtualClock | null = null,
): Promise<FakeModel> {
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
  const quiet = { logLevel: "silent", ...config } as const;
  return {
    backend,
    engine: await EngineClient.connect(transport, { type: "files", files: files.map(inFolder) }, quiet),
    pause: () => void (backend.gate = new Promise((resolve) => (resume = resolve))),
    resume: () => resume(),
  };
}

/** The folder's name is the model's. */
function inFolder(file: File): File {
  return Object.defineProperty(file, "webkitRelativePath", { value: `chorus-chat/${file.name}` });
}
