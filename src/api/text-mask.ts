import type { TemplateMessage } from "./template-message.ts";
import { isObject } from "../protocol/json-object.ts";
import { refused } from "./validate.ts";

const FIRST_NONCHARACTER = 0xfdd0;
const NUM_NONCHARACTERS = 32;
/** These open no turn, and templates look for them in an answer's text. */
const THOUGHT_TAGS = /(<\/?think>)/;

/** Replaces the first characters of control tokens by code points that occur in no message. */
export class TextMask {
  /** [character, its mask] */
  readonly #pairs: readonly (readonly [string, string])[];
  readonly #controlTokens: readonly string[];
  readonly #unused: readonly string[];

  /** @param written all that is to be masked, as JSON has it */
  constructor(controlTokens: readonly string[], written: unknown) {
    const initials = [...new Set(controlTokens.map((token) => String.fromCodePoint(token.codePointAt(0) ?? 0)))];
    const text = JSON.stringify(written);
    this.#controlTokens = controlTokens;
    this.#unused = Array.from({ length: NUM_NONCHARACTERS }, (_, i) =>
      String.fromCharCode(FIRST_NONCHARACTER + i),
    ).filter((noncharacter) => !text.includes(noncharacter) && !text.includes(asciiOf(noncharacter)));
    this.#pairs = initials.map((initial, i) => [initial, this.#unusedAt(i)]);
  }

  /** A code point that occurs in no message and masks nothing. */
  get marker(): string {
    return this.#unusedAt(this.#pairs.length);
  }

  #unusedAt(index: number): string {
    const noncharacter = this.#unused[index];
    if (noncharacter !== undefined) return noncharacter;
    throw refused("messages", "messages hold all of Unicode's noncharacters U+FDD0 to U+FDEF.");
  }

  hideInMessage(message: TemplateMessage): TemplateMessage {
    const { role, content } = message;
    // Between two texts that split() returns is what the pattern's group matched.
    const parts = role === "assistant" ? content.split(THOUGHT_TAGS) : [content];
    const hidden = parts.map((part, i) => (i % 2 === 1 ? part : this.#hide(part))).join("");
    return { ...this.hideIn(message), role, content: hidden };
  }

  /** Returns a copy of a JSON value with every text in it masked, names of fields included. */
  hideIn<T>(value: T): T {
    return mapTexts(
      value,
      (text) => this.#hide(text),
      (name) => (this.#isPlainName(name) ? name : this.#hide(name)),
    ) as T;
  }

  reveal(text: string): string {
    return this.#pairs.reduce(
      (plain, [initial, mask]) =>
        plain
          .replaceAll(mask, initial)
          .replaceAll(asciiOf(mask), /^[\0-\x7f]/.test(initial) ? initial : asciiOf(initial)),
      text,
    );
  }

  #hide(text: string): string {
    return this.#pairs.reduce((masked, [initial, mask]) => masked.replaceAll(initial, mask), text);
  }

  /** Templates ask for names like these, which stay as they are. */
  #isPlainName(name: string): boolean {
    return /^\w+$/.test(name) && !this.#controlTokens.some((token) => name.includes(token));
  }
}

/** How JSON in ASCII writes a character. */
function asciiOf(character: string): string {
  return character.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** A copy of a JSON value, its texts and the names of its fields changed. */
function mapTexts(value: unknown, change: (text: string) => string, rename: (name: string) => string): unknown {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return value.map((element) => mapTexts(element, change, rename));
  if (!isObject(value)) return value;
  const fields = Object.entries(value).map(([name, field]) => [rename(name), mapTexts(field, change, rename)]);
  return Object.fromEntries(fields);
}
