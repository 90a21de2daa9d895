// Reads an answer under tools as it grows. A grammar has made it, so it is as its format says, but may be cut anywhere.

import { overlap } from "../../engine/text/overlap.ts";
import { parseJson } from "../../protocol/bounded-data.ts";
import type { CallPlan } from "./call-plan.ts";
import { GrowingText, type Reading } from "./growing-text.ts";
import { readArguments } from "./spelled-arguments.ts";

/** What a text adds: to the content, or to a call, which begins with its name. */
export type AnswerPart =
  | { readonly type: "content"; readonly text: string }
  | { readonly type: "call"; readonly index: number; readonly name: string }
  | { readonly type: "arguments"; readonly index: number; readonly text: string };

/** Characters of a JSON string, with whole escapes. */
const WHOLE_CHARACTERS = /^(?:[^"\\]|\\(?:[^u]|u[0-9a-fA-F]{4}))*/;

export class CallReader {
  readonly #plan: CallPlan;
  readonly #reading = this.#answer();
  readonly #text = new GrowingText();
  #parts: AnswerPart[] = [];
  #hasWholeCalls = false;

  constructor(plan: CallPlan) {
    this.#plan = plan;
  }

  /** Whether there are calls, and the last one is whole. */
  get hasWholeCalls(): boolean {
    return this.#hasWholeCalls;
  }

  /** Returns what the next text adds. */
  push(text: string, isLast: boolean): readonly AnswerPart[] {
    this.#text.held += text;
    this.#text.isWhole = isLast;
    this.#parts = [];
    this.#reading.next();
    return this.#parts;
  }

  *#answer(): Reading {
    const text = this.#text;
    const { format, hasSchema } = this.#plan;
    const { content, beginning, open } = format;
    if (content === "before" && !hasSchema) return yield* this.#contentAndCalls(beginning);
    if (typeof content === "string") {
      const start = content === "instead" ? beginning.slice(0, 1) : beginning;
      while (start.startsWith(text.held) && text.held !== start) yield;
      if (text.held.startsWith(start)) return yield* this.#calls();
      for (; ; yield) this.#add({ type: "content", text: text.take(text.held.length) });
    }
    const [before] = content;
    while (text.held.length < open.length && text.held.length <= before.length) yield;
    while (!text.held.startsWith(before)) {
      if (text.held.startsWith(open)) return yield* this.#calls();
      yield;
    }
    text.take(before.length);
    yield* hasSchema ? this.#value((json) => ({ type: "content", text: json })) : this.#string();
  }

  *#contentAndCalls(beginning: string): Reading {
    const text = this.#text;
    for (let end = -1; ; yield) {
      end = text.held.indexOf(beginning);
      const before = end < 0 ? text.held : text.held.slice(0, end);
      // White space before a call is none of the content.
      const isCut = text.isWhole && end < 0;
      this.#add({ type: "content", text: text.take(isCut ? before.length : shownLength(before, beginning)) });
      if (end >= 0) return yield* this.#calls();
    }
  }

  *#calls(): Reading {
    const { format, tools } = this.#plan;
    const { open, head, mid, between, spelling } = format;
    for (let index = 0; ; index++) {
      yield* this.#text.until((index === 0 ? open : between) + head);
      this.#hasWholeCalls = false;
      const name = yield* this.#text.until(mid + (spelling?.brackets[0] ?? ""));
      this.#add({ type: "call", index, name });
      const marked = tools.find((tool) => tool.name === name)?.texts ?? [];
      const say = (text: string) => this.#add({ type: "arguments", index, text });
      if (spelling) yield* readArguments(this.#text, { ...spelling, marked }, say);
      else yield* this.#value((text) => ({ type: "arguments", index, text }));
      this.#hasWholeCalls = true;
    }
  }

  /** Takes a JSON value: what stands in brackets, or up to a closing one. */
  *#value(part: (text: string) => AnswerPart): Reading {
    let depth = 0;
    let isString = false;
    let isEscaped = false;
    for (; ; yield) {
      for (let at = 0; at < this.#text.held.length; at++) {
        const letter = this.#text.held[at] ?? "";
        if (isEscaped) isEscaped = false;
        else if (isString) [isEscaped, isString] = [letter === "\\", letter !== '"'];
        else if (letter === '"') isString = true;
        else if ("{[".includes(letter)) depth += 1;
        else if ("}]".includes(letter) && --depth <= 0)
          return this.#add(part(this.#text.take(depth === 0 ? at + 1 : at)));
      }
      this.#add(part(this.#text.take(this.#text.held.length)));
    }
  }

  /** Takes a JSON string, and adds what it says. */
  *#string(): Reading {
    this.#text.take(1);
    for (; !this.#text.held.startsWith('"'); yield) {
      const [text = ""] = WHOLE_CHARACTERS.exec(this.#text.held) ?? [];
      this.#add({ type: "content", text: parseJson(`"${this.#text.take(text.length)}"`) as string });
      if (this.#text.held.startsWith('"')) return;
    }
  }

  #add(part: AnswerPart): void {
    if (part.type === "call" || part.text !== "") this.#parts.push(part);
  }
}

/** Returns the length of a text without white space at its end, and without what another text may begin with. */
function shownLength(text: string, next: string): number {
  return text.slice(0, text.length - overlap(text, next)).trimEnd().length;
}
