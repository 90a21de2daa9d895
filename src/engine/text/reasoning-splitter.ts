import { overlap } from "./overlap.ts";

export const OPENING = "<think>";
export const CLOSING = "</think>";

/**
 * Where the next text of an answer is. "may open": at the beginning, where <think> may come. "open": in the thought. "closed":
 * after it, where white space does not count as content. "none": in the content.
 */
export type ReasoningState = "may open" | "open" | "closed" | "none";

export interface ReasoningStart {
  /** Where the answer begins. */
  readonly state: ReasoningState;
  /** The part of the answer that the prompt contains; it may end within a tag. */
  readonly written: string;
}

export const NO_REASONING: ReasoningStart = { state: "none", written: "" };

/**
 * Splits an answer into the thought between <think> and </think> and the content. The tags belong to neither, nor does the
 * white space after the thought.
 */
export class ReasoningSplitter {
  #state: ReasoningState;
  readonly #keepsSpace: boolean;
  #isAtBeginning = true;
  #hasThought: boolean;
  /** Text that could become a tag, or white space before one. */
  #held = "";
  /** Number of characters at the beginning of the held text that the prompt contains. */
  #numWritten = 0;

  /** @param keepsSpace whether white space after the thought is content, since a grammar may require it */
  constructor({ state, written }: ReasoningStart, keepsSpace = false) {
    this.#state = state;
    this.#hasThought = state === "open";
    this.#keepsSpace = keepsSpace;
    this.push(written, false);
    this.#numWritten = this.#held.length;
  }

  get state(): ReasoningState {
    return this.#state;
  }

  /** Whether any of the text is a thought. */
  get hasThought(): boolean {
    return this.#hasThought;
  }

  /** Number of characters at the text's end that the closing tag begins with. */
  get numTagCharacters(): number {
    return this.#state === "open" ? overlap(this.#held, CLOSING) : 0;
  }

  /** Takes the next text. Holds back text that could become a tag, unless the answer is over. */
  push(text: string, isLast: boolean) {
    let rest = this.#held + text;
    let reasoning = "";
    this.#held = "";
    if (this.#isAtBeginning && (this.#state === "may open" || this.#state === "open")) {
      const started = rest.trimStart();
      if (started.length < OPENING.length && OPENING.startsWith(started) && !isLast) {
        this.#held = rest;
        return { reasoning, content: "" };
      }
      this.#isAtBeginning = false;
      if (started.startsWith(OPENING)) {
        this.#hasThought = true;
        this.#state = "open"; // some models write the tag though their template has
        rest = started.slice(OPENING.length);
        this.#numWritten = 0;
      } else if (this.#state === "may open") this.#state = "none";
    }
    if (this.#state === "open") {
      const end = rest.indexOf(CLOSING);
      const shown = end >= 0 ? end : rest.length - (isLast ? 0 : overlap(rest, CLOSING));
      reasoning = rest.slice(this.#numWritten, shown);
      if (end < 0) {
        this.#held = rest.slice(shown);
        if (shown > 0) this.#numWritten = 0;
        return { reasoning, content: "" };
      }
      this.#state = "closed";
      this.#numWritten = 0;
      rest = rest.slice(end + CLOSING.length);
    }
    if (this.#state === "closed") {
      if (!this.#keepsSpace) rest = rest.trimStart();
      if (rest !== "") this.#state = "none";
    }
    const content = rest.slice(this.#numWritten);
    this.#numWritten = 0;
    return { reasoning, content };
  }
}

export function isInThought(start: ReasoningStart): boolean {
  return new ReasoningSplitter(start).state === "open";
}
