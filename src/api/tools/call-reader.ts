// Reads an answer under tools as it grows. A grammar has made it, so it is as its format says, but may be cut anywhere.

import { overlap } from "../../engine/text/overlap.ts";
import { AS_JSON } from "../../grammar/spelling.ts";
import { parseJson } from "../../protocol/bounded-data.ts";
import { GrowingText, type Reading } from "./growing-text.ts";
import type { MarkedFormat } from "./marked-format.ts";
import { readArguments, readValue } from "./spelled-arguments.ts";
import type { ToolRequest } from "./tool-fields.ts";

/** How the answers of a request call functions. */
export interface CallPlan extends Pick<ToolRequest, "choice" | "isOlder" | "tools"> {
  readonly format: MarkedFormat;
  /** Whether an answer that calls nothing follows a schema. */
  readonly hasSchema: boolean;
}

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
    if (!hasSchema) return yield* this.#string();
    yield* readValue(text, AS_JSON, (json) => this.#add({ type: "content", text: json }));
  }

  *#contentAndCalls(beginning: string): Reading {
    const text = this.#text;
    for (; ; yield) {
      const end = text.held.indexOf(beginning);
      // White space before a call is none of the content.
      const before = text.held.slice(0, end < 0 ? text.held.length - overlap(text.held, beginning) : end).trimEnd();
      this.#add({ type: "content", text: text.take(text.isWhole && end < 0 ? text.held.length : before.length) });
      if (end >= 0) return yield* this.#calls();
    }
  }

  *#calls(): Reading {
    const { format, tools } = this.#plan;
    const { open, head, mid, between, spelling = AS_JSON } = format;
    for (let index = 0; ; index++) {
      yield* this.#text.until((index === 0 ? open : between) + head);
      this.#hasWholeCalls = false;
      const name = yield* this.#text.until(mid + spelling.brackets[0]);
      this.#add({ type: "call", index, name });
      const marked = tools.find((tool) => tool.name === name)?.texts ?? [];
      const say = (text: string) => this.#add({ type: "arguments", index, text });
      yield* readArguments(this.#text, { ...spelling, marked }, say);
      this.#hasWholeCalls = true;
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

  /** What is added to one thing is one part. */
  #add(part: AnswerPart): void {
    const last = this.#parts.at(-1);
    if (part.type === "call") this.#parts.push(part);
    else if (last?.type === part.type) this.#parts.splice(-1, 1, { ...part, text: `${last.text}${part.text}` });
    else if (part.text !== "") this.#parts.push(part);
  }
}
