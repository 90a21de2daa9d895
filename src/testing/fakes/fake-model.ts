import { readFileSync } from "node:fs";

import type { EngineConfig } from "../../protocol/config.ts";
import { FAKE_MODEL_FILES, openFakeModelOf, type FakeModel } from "./fake-model-of.ts";
import type { VirtualClock } from "./virtual-clock.ts";

export type { FakeModel };

const FOLDER = "public/models/chorus-chat";

/** Opens the embedded model under the name "chorus-chat", without its weights' numbers. In Node. */
export function openFakeModel(config: EngineConfig = {}, clock: VirtualClock | null = null): Promise<FakeModel> {
  const files = FAKE_MODEL_FILES.map((name) => new File([readFileSync(`${FOLDER}/${name}`)], name));
  return openFakeModelOf(files, config, clock);
}
