// Reads an answer under tools as it grows. A grammar has made it, so it is as its format says, but may be cut anywhere.

import { overlap } from "../../engine/text/overlap.ts";
import { parseJson } from "../../protocol/bounded-data.ts";
import type { MarkedFormat } from "./marked-format.ts";

/** What a text adds: to the content, or to a call, which begins with its name. */
export type AnswerPart =
  | { readonly type: "content"; readonly text: string }
  | { readonly type: "call"; readonly index: number; readonly name: string }
  | { readonly type: "arguments"; readonly index: number; readonly text: string };

/** Each yield waits for more text. */
type Reading<T = void> = Generator<void, T, void>;

/** Characters of a JSON string, with whole escapes. */
const WHOLE_CHARACTERS = /^(?:[^"\\]|\\(?:[^u]|u[0-9a-fA-F]{4}))*/;

export class CallReader {
  readonly #format: MarkedFormat;
  readonly #hasSchema: boolean;
  readonly #reading = this.#answer();
  /** What was not understood yet. */
  #held = "";
  #isLast = false;
  #parts: AnswerPart[] = [];
  #hasWholeCalls = false;

  /** @param hasSchema whether a content follows one, and is JSON */
  constructor(format: MarkedFormat, hasSchema: boolean) {
    this.#format = format;
    this.#hasSchema = hasSchema;
  }

  /** Whether there are calls, and the last one is whole. */
  get hasWholeCalls(): boolean {
    return this.#hasWholeCalls;
  }

  /** Returns what the next text adds. */
  push(text: string, isLast: boolean): readonly AnswerPart[] {
    this.#held += text;
    this.#isLast = isLast;
    this.#parts = [];
    this.#reading.next();
    return this.#parts;
  }

  *#answer(): Reading {
    const { content, beginning, open } = this.#format;
    if (content === "before" && !this.#hasSchema) return yield* this.#contentAndCalls(beginning);
    if (typeof content === "string") {
      const start = content === "instead" ? beginning.slice(0, 1) : beginning;
      while (start.startsWith(this.#held) && this.#held !== start) yield;
      if (this.#held.startsWith(start)) return yield* this.#calls();
      for (; ; yield) this.#add({ type: "content", text: this.#take(this.#held.length) });
    }
    const [before] = content;
    while (this.#held.length < open.length && this.#held.length <= before.length) yield;
    while (!this.#held.startsWith(before)) {
      if (this.#held.startsWith(open)) return yield* this.#calls();
      yield;
    }
    this.#take(before.length);
    yield* this.#hasSchema ? this.#value((text) => ({ type: "content", text })) : this.#string();
  }

  *#contentAndCalls(beginning: string): Reading {
    for (let end = -1; ; yield) {
      end = this.#held.indexOf(beginning);
      const text = end < 0 ? this.#held : this.#held.slice(0, end);
      // White space before a call is none of the content.
      const isCut = this.#isLast && end < 0;
      this.#add({ type: "content", text: this.#take(isCut ? text.length : shownLength(text, beginning)) });
      if (end >= 0) return yield* this.#calls();
    }
  }

  *#calls(): Reading {
    const { head, mid } = this.#format;
    for (let index = 0; ; index++) {
      yield* this.#until(head);
      this.#hasWholeCalls = false;
      this.#add({ type: "call", index, name: yield* this.#until(mid) });
      yield* this.#value((text) => ({ type: "arguments", index, text }));
      this.#hasWholeCalls = true;
    }
  }

  /** Takes a text up to another one, and that too. */
  *#until(end: string): Reading<string> {
    while (!this.#held.includes(end)) yield;
    const text = this.#take(this.#held.indexOf(end));
    this.#take(end.length);
    return text;
  }

  /** Takes a JSON value: what stands in brackets, or up to a closing one. */
  *#value(part: (text: string) => AnswerPart): Reading {
    let depth = 0;
    let isString = false;
    let isEscaped = false;
    for (; ; yield) {
      for (let at = 0; at < this.#held.length; at++) {
        const letter = this.#held[at] ?? "";
        if (isEscaped) isEscaped = false;
        else if (isString) [isEscaped, isString] = [letter === "\\", letter !== '"'];
        else if (letter === '"') isString = true;
        else if ("{[".includes(letter)) depth += 1;
        else if ("}]".includes(letter) && --depth <= 0) return this.#add(part(this.#take(depth === 0 ? at + 1 : at)));
      }
      this.#add(part(this.#take(this.#held.length)));
    }
  }

  /** Takes a JSON string, and adds what it says. */
  *#string(): Reading {
    this.#take(1);
    for (; !this.#held.startsWith('"'); yield) {
      const [text = ""] = WHOLE_CHARACTERS.exec(this.#held) ?? [];
      this.#add({ type: "content", text: parseJson(`"${this.#take(text.length)}"`) as string });
      if (this.#held.startsWith('"')) return;
    }
  }

  #take(length: number): string {
    const taken = this.#held.slice(0, length);
    this.#held = this.#held.slice(length);
    return taken;
  }

  #add(part: AnswerPart): void {
    if (part.type === "call" || part.text !== "") this.#parts.push(part);
  }
}

/** Returns the length of a text without white space at its end, and without what another text may begin with. */
function shownLength(text: string, next: string): number {
  return text.slice(0, text.length - overlap(text, next)).trimEnd().length;
}
