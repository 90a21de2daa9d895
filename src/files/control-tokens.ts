/** An entry of tokenizer.json's added_tokens. The tokenizer looks for its string before it splits the text into words. */
export interface AddedToken {
  readonly id: number;
  readonly content: string;
  /** Whether it is not shown as text, like "<|endoftext|>". */
  readonly special: boolean;
  /** Whether it swallows the white space before it. */
  readonly lstrip: boolean;
  /** Whether it swallows the white space after it. */
  readonly rstrip: boolean;
}

/** Tokens that steer a model and stand for no text: end of text, the turns of a chat. */
export class ControlTokens {
  readonly #byContent: ReadonlyMap<string, AddedToken>;
  readonly #byId: ReadonlyMap<number, AddedToken>;
  readonly #pattern: RegExp | null;

  constructor(tokens: readonly AddedToken[]) {
    this.#byContent = new Map(tokens.map((token) => [token.content, token]));
    this.#byId = new Map(tokens.map((token) => [token.id, token]));
    // If one token is a prefix of another, the longer one matches.
    const longestFirst = [...this.#byContent.keys()].sort((a, b) => b.length - a.length);
    this.#pattern = tokens.length === 0 ? null : new RegExp(`(${longestFirst.map(escapeRegExp).join("|")})`);
  }

  get contents(): string[] {
    return [...this.#byContent.keys()];
  }

  content(id: number): string | undefined {
    return this.#byId.get(id)?.content;
  }

  /** Splits a text at its control tokens. Returns their ids and the non-empty texts between them, in order. */
  split(text: string): (string | number)[] {
    const sections = this.#pattern === null ? [text] : text.split(this.#pattern);
    return sections
      .map((section, i) => {
        const token = this.#byContent.get(section);
        if (token !== undefined) return token.id;
        if (this.#byContent.get(sections[i + 1] ?? "")?.lstrip) section = section.trimEnd();
        if (this.#byContent.get(sections[i - 1] ?? "")?.rstrip) section = section.trimStart();
        return section;
      })
      .filter((part) => part !== "");
  }
}

function escapeRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}
