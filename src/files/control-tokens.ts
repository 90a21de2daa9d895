/** An entry of tokenizer.json's added_tokens: a string that is found in the text before it is cut into words. */
export interface AddedToken {
  readonly id: number;
  readonly content: string;
  /** No text to be read, like "<|endoftext|>". */
  readonly special: boolean;
  /** Whether it swallows the white space before it. */
  readonly lstrip: boolean;
  /** Whether it swallows the white space after it. */
  readonly rstrip: boolean;
}

/** The tokens that steer a model: end of text, the turns of a chat. They stand for no text. */
export class ControlTokens {
  readonly #byContent: ReadonlyMap<string, AddedToken>;
  readonly #byId: ReadonlyMap<number, AddedToken>;
  readonly #pattern: RegExp | null;

  constructor(tokens: readonly AddedToken[]) {
    this.#byContent = new Map(tokens.map((token) => [token.content, token]));
    this.#byId = new Map(tokens.map((token) => [token.id, token]));
    // Where one token begins another the longer one counts.
    const longestFirst = [...this.#byContent.keys()].sort((a, b) => b.length - a.length);
    this.#pattern = tokens.length === 0 ? null : new RegExp(`(${longestFirst.map(escapeRegExp).join("|")})`);
  }

  get contents(): string[] {
    return [...this.#byContent.keys()];
  }

  content(id: number): string | undefined {
    return this.#byId.get(id)?.content;
  }

  /** Text with control tokens in it, as the texts between them (none empty) and their ids, in order. */
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
