import type { RenderedChat } from "../protocol/rendered-chat.ts";
import type { ChatFormat } from "./chat-format.ts";
import { parseChatPrompt } from "./chat-request.ts";

interface TokenReader {
  tokenBytes(id: number): Uint8Array;
  tokenText(id: number): string;
}

/**
 * Returns the prompt that messages become, with the same checks as chat.completions.create.
 * @throws ChorusError naming the field.
 */
export function renderChat(body: unknown, chatFormat: ChatFormat, tokenizer: TokenReader): RenderedChat {
  const tokenIds = parseChatPrompt(body, chatFormat);
  return { text: textOf(tokenIds, tokenizer), tokenIds };
}

/** A character may span several tokens. Control tokens have no bytes. */
function textOf(tokenIds: readonly number[], tokenizer: TokenReader): string {
  const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });
  const parts = tokenIds.map((id) => {
    const bytes = tokenizer.tokenBytes(id);
    return bytes.length > 0 ? utf8.decode(bytes, { stream: true }) : utf8.decode() + tokenizer.tokenText(id);
  });
  return parts.join("") + utf8.decode();
}
