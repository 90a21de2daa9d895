export const OPENING = "<think>";
export const CLOSING = "</think>";

/**
 * Where an answer's reasoning is. "none": there is none to look for. "may open": the answer may begin with <think>. "open":
 * the prompt ends with <think>, so the answer begins inside.
 */
export type ReasoningStart = "none" | "may open" | "open";

interface SplitText {
  readonly reasoning: string;
  readonly content: string;
}

/** Splits an answer into what stands between <think> and </think> and what follows. The tags belong to neither. */
export class ReasoningSplitter {
  #state: "before" | "reasoning" | "content";
  /** Could become a tag, or is white space before one. */
  #held = "";

  constructor(start: ReasoningStart) {
    this.#state = ({ none: "content", "may open": "before", open: "reasoning" } as const)[start];
  }

  /** Whether all text from now on is content, and none is held back. */
  get isContent(): boolean {
    return this.#state === "content" && this.#held === "";
  }

  /** Takes the next text. Holds back what could become a tag, unless the answer is over. */
  push(text: string, isLast: boolean): SplitText {
    let rest = this.#held + text;
    let reasoning = "";
    this.#held = "";
    if (this.#state === "before") {
      const begun = rest.trimStart();
      if (begun.startsWith(OPENING)) {
        this.#state = "reasoning";
        rest = begun.slice(OPENING.length);
      } else if (OPENING.startsWith(begun) && !isLast) {
        this.#held = rest;
        return { reasoning, content: "" };
      } else {
        this.#state = "content";
      }
    }
    if (this.#state === "reasoning") {
      const end = rest.indexOf(CLOSING);
      if (end < 0) {
        const held = isLast ? 0 : heldLength(rest);
        this.#held = rest.slice(rest.length - held);
        return { reasoning: rest.slice(0, rest.length - held), content: "" };
      }
      this.#state = "content";
      reasoning = rest.slice(0, end);
      rest = rest.slice(end + CLOSING.length);
    }
    return { reasoning, content: rest };
  }
}

/** Length of the longest end of the text that the closing tag begins with. */
function heldLength(text: string): number {
  for (let length = Math.min(CLOSING.length - 1, text.length); length > 0; length--) {
    if (CLOSING.startsWith(text.slice(text.length - length))) return length;
  }
  return 0;
}
