// Compiled against the packed types by bundlers.package.ts, as somebody's own code would be.

import { createEngine, models, ChorusError, type ChorusEngine } from "chorus-llm";
import { installLanguageModel } from "chorus-llm/language-model";

export async function ask(content: string): Promise<string | null> {
  await using engine: ChorusEngine = await createEngine({ model: "owner/name", backend: "cpu" });
  installLanguageModel(engine);
  const { choices } = await engine.chat.completions.create({ messages: [{ role: "user", content }] });
  return choices[0]?.message.content ?? null;
}

export const isGone = (error: unknown): boolean => error instanceof ChorusError && error.code === "worker_died";
export const numKnown: number = models.catalogue.length;
// @ts-expect-error -- there is no such field
void createEngine({ model: "owner/name", maxNumSeq: 4 });
