// A tokenizer of letters for chats: each letter is a token, and so is each control token.

import type { ChatTokenizer } from "../../src/api/chat-format.ts";

const FIRST_LETTER = 1000;

interface LetterTokenizer extends ChatTokenizer {
  readonly textOf: (ids: readonly number[]) => string;
  /** Returns the tokens that are control tokens. */
  readonly control: (ids: readonly number[]) => string[];
}

export function letterTokenizer(chatTemplate: string, controlTokens: readonly string[]): LetterTokenizer {
  const words = controlTokens.map((one) => one.replace(/[^\w]/g, "\\$&")).join("|");
  const textOf = (id: number) => controlTokens[id] ?? String.fromCodePoint(id - FIRST_LETTER);
  return {
    chatTemplate,
    toolTemplate: null,
    namedTokens: { bos_token: "", eos_token: "" },
    controlTokens,
    splitControlTokens: (text) =>
      text
        .split(new RegExp(`(${words})`))
        .filter((part) => part !== "")
        .map((part) => (controlTokens.includes(part) ? controlTokens.indexOf(part) : part)),
    encodePlain: (text) => Array.from(text, (letter) => FIRST_LETTER + (letter.codePointAt(0) ?? 0)),
    specialTokens: { before: [] },
    textOf: (ids) => ids.map(textOf).join(""),
    control: (ids) => ids.filter((id) => id < FIRST_LETTER).map(textOf),
  };
}
