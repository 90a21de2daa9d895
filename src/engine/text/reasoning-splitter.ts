export const OPENING = "<think>";
export const CLOSING = "</think>";

/**
 * Where the next text of an answer is. "may open": at the beginning, where <think> may come. "open": in the thought. "closed":
 * behind it, where white space may come that is no content. "none": in the content.
 */
export type ReasoningState = "may open" | "open" | "closed" | "none";

export interface ReasoningStart {
  /** Where the answer begins. */
  readonly state: ReasoningState;
  /** What the prompt has of the answer: it may end within a tag. */
  readonly written: string;
}

/** Of an answer without thoughts. */
export const NO_REASONING: ReasoningStart = { state: "none", written: "" };

interface SplitText {
  readonly reasoning: string;
  readonly content: string;
}

/**
 * Splits an answer into what stands between <think> and </think> and what follows. The tags belong to neither, nor does the
 * white space behind the thought.
 */
export class ReasoningSplitter {
  #state: ReasoningState;
  readonly #keepsSpace: boolean;
  #isAtBeginning = true;
  #hasThought: boolean;
  /** Could become a tag, or is white space before one. */
  #held = "";
  /** Characters at the beginning of what is held that the prompt has. */
  #numWritten = 0;

  /** @param keepsSpace whether white space behind the thought is content, as a grammar may demand some */
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

  /** Characters at the end that the closing tag begins with. */
  get numTagCharacters(): number {
    return this.#state === "open" ? tagCharacters(this.#held) : 0;
  }

  /** Takes the next text. Holds back what could become a tag, unless the answer is over. */
  push(text: string, isLast: boolean): SplitText {
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
      const shown = end >= 0 ? end : rest.length - (isLast ? 0 : tagCharacters(rest));
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

/** Whether an answer goes on in its thought. */
export function isInThought(start: ReasoningStart): boolean {
  return new ReasoningSplitter(start).state === "open";
}

/** Length of the longest end of the text that the closing tag begins with. */
function tagCharacters(text: string): number {
  for (let length = Math.min(CLOSING.length - 1, text.length); length > 0; length--) {
    if (CLOSING.startsWith(text.slice(text.length - length))) return length;
  }
  return 0;
}
