import { turnEndFrom, type OneAnswer, type Turn, type TurnEnd } from "./conversation.ts";
import type { AnswerPart } from "./stream-answer.ts";

interface Growing {
  answer: string;
  reasoning: string;
  end: TurnEnd | null;
}

/** The growing answers to a question: one, or several side by side. Newer than the store, which follows once a frame. */
export class GrowingAnswers {
  readonly #answers: Growing[];
  #hasNews = false;

  /** @param turn its answer so far is continued */
  constructor({ answer = "", reasoning = "" }: Partial<Turn>) {
    this.#answers = [{ answer, reasoning, end: null }];
  }

  add({ index, text, reasoning, finishReason }: AnswerPart): void {
    while (this.#answers.length <= index) this.#answers.push({ answer: "", reasoning: "", end: null });
    const answer = this.#answers[index];
    if (answer === undefined) return;
    answer.answer += text;
    answer.reasoning += reasoning;
    if (finishReason) answer.end = turnEndFrom(finishReason);
    if (text !== "" || reasoning !== "") this.#hasNews = true;
  }

  /** Characters of all answers together. */
  get length(): number {
    return this.#answers.reduce((sum, { answer }) => sum + answer.length, 0);
  }

  /** Returns the turn with the text since the last call, or the same turn if there is none. */
  written(turn: Turn): Turn {
    if (!this.#hasNews) return turn;
    this.#hasNews = false;
    return this.#in(turn, null);
  }

  /** Returns the turn with ended answers. @param otherwise end of those that didn't end by themselves */
  ended(turn: Turn, otherwise: TurnEnd): Turn {
    return this.#in(turn, otherwise);
  }

  #in(turn: Turn, otherwise: TurnEnd | null): Turn {
    const [first, ...others] = this.#answers.map(({ answer, reasoning, end }): OneAnswer => ({
      answer,
      ...(reasoning !== "" && { reasoning }),
      // The turn is in progress until all have ended.
      end: otherwise === null ? null : (end ?? otherwise),
    }));
    if (first === undefined) return turn;
    return { ...turn, ...first, ...(others.length > 0 && { several: { answers: [first, ...others], chosen: 0 } }) };
  }
}
