import type { RenderedChat } from "../protocol/rendered-chat.ts";
import type { TokenNames } from "./token-names.ts";
import type { ChatFormat } from "./chat-format.ts";
import { parseChatPrompt } from "./chat-request.ts";
import { textOf } from "./text-of-tokens.ts";

/**
 * Returns the prompt that messages become, with the same checks as chat.completions.create.
 * @throws ChorusError naming the field.
 */
export function renderChat(body: unknown, chatFormat: ChatFormat, tokenizer: TokenNames): RenderedChat {
  const tokenIds = parseChatPrompt(body, chatFormat);
  return { text: textOf(tokenIds, tokenizer), tokenIds };
}
