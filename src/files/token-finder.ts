/** An entry of tokenizer.json's added_tokens. The tokenizer looks for its string before it splits the text into words. */
export interface AddedToken {
  readonly id: number;
  readonly content: string;
  /** Whether it is not shown as text, like "<|endoftext|>". */
  readonly special: boolean;
  /** Whether it is looked for in the normalized text. */
  readonly normalized: boolean;
  /** Whether it swallows the white space before it. */
  readonly lstrip: boolean;
  /** Whether it swallows the white space after it. */
  readonly rstrip: boolean;
  /** Whether it is found only where no letter, digit or "_" is beside it. */
  readonly single_word: boolean;
}

/** Added tokens, as they are found in a text before it is normalized. */
export class TokenFinder {
  readonly #byContent: ReadonlyMap<string, AddedToken>;
  readonly #byId: ReadonlyMap<number, AddedToken>;
  readonly #pattern: RegExp | null;

  constructor(tokens: readonly AddedToken[]) {
    this.#byContent = new Map(tokens.map((token) => [token.content, token]));
    this.#byId = new Map(tokens.map((token) => [token.id, token]));
    // If one token is a prefix of another, the longer one matches.
    const longestFirst = [...this.#byContent.values()].sort((a, b) => b.content.length - a.content.length);
    this.#pattern = tokens.length === 0 ? null : new RegExp(`(${longestFirst.map(patternOf).join("|")})`, "u");
  }

  get contents(): string[] {
    return [...this.#byContent.keys()];
  }

  token(id: number): AddedToken | undefined {
    return this.#byId.get(id);
  }

  /** Splits a text at these tokens. Returns their ids and the non-empty texts between them, in order. */
  split(text: string): (string | number)[] {
    const sections = this.#pattern === null ? [text] : text.split(this.#pattern);
    // Every second section is a token.
    const tokenAt = (i: number) => (i % 2 === 1 ? this.#byContent.get(sections[i] ?? "") : undefined);
    return sections
      .map((section, i) => {
        const token = tokenAt(i);
        if (token !== undefined) return token.id;
        if (tokenAt(i + 1)?.lstrip) section = section.trimEnd();
        if (tokenAt(i - 1)?.rstrip) section = section.trimStart();
        return section;
      })
      .filter((part) => part !== "");
  }
}

const WORD = "[\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}]";

function patternOf({ content, single_word: isWord }: AddedToken): string {
  const escaped = content.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  return isWord ? `(?<!${WORD})${escaped}(?!${WORD})` : escaped;
}
