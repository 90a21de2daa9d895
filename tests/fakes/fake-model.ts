import { readFileSync } from "node:fs";

import type { EngineConfig } from "../../src/protocol/config.ts";
import { FAKE_MODEL_FILES, openFakeModelOf, type FakeModel } from "./fake-model-of.ts";
import type { VirtualClock } from "./virtual-clock.ts";

export type { FakeModel };

const FOLDER = "public/models/chorus-chat";

/** The files that may contain the template. */
const TEMPLATE_FILES: Readonly<Record<string, (template: string) => string>> = {
  "chat_template.jinja": (template) => template,
  "tokenizer_config.json": (chat_template) => JSON.stringify({ chat_template, eos_token: "<|endoftext|>" }),
};

/**
 * Opens the embedded model under the name "chorus-chat", without its weights' numbers. In Node.
 * @param template another chat template. [its own]
 */
export function openFakeModel(
  config: EngineConfig = {},
  clock: VirtualClock | null = null,
  template: string | null = null,
): Promise<FakeModel> {
  const files = FAKE_MODEL_FILES.map((name) => {
    const text = template !== null && TEMPLATE_FILES[name]?.(template);
    return new File([text || readFileSync(`${FOLDER}/${name}`)], name);
  });
  return openFakeModelOf(files, config, clock);
}
