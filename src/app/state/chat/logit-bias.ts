import type { Answerer } from "../../remote/answerer.ts";
import { readBias } from "../settings/bias-line.ts";

/** Returns OpenAI's `logit_bias`: a text biases its tokens, also those after a space. Null if the answerer shows no tokens. */
export async function logitBias(
  lines: readonly string[],
  answerer: Pick<Answerer, "tokenize">,
): Promise<Record<string, number> | null> {
  const tokenize = answerer.tokenize?.bind(answerer);
  if (tokenize === undefined) return null;
  const tokensOf = async (text: string) => {
    const forms = [text, ` ${text}`].map((prompt) => tokenize({ prompt, add_special_tokens: false }));
    return (await Promise.all(forms)).flatMap(({ tokens }) => tokens);
  };
  const biases: Record<string, number> = {};
  for (const { of, bias } of lines.flatMap((line) => readBias(line) ?? [])) {
    for (const id of typeof of === "number" ? [of] : await tokensOf(of)) biases[id] = bias;
  }
  return biases;
}
