import { randomId, type ToolCallDelta } from "../../../index.ts";
import type { Answer, Turn, TurnEnd } from "./conversation.ts";
import type { AnswerPart } from "./stream-answer.ts";
import { argumentsIn, BY_NOBODY, MAX_CALLS, type Call, type ToolRound } from "./tool-rounds.ts";

/** The growing answers to a question: one, or several side by side. Newer than the store, which follows once a frame. */
export class GrowingAnswers {
  readonly #answers: { answer: string; reasoning: string; end: TurnEnd | null }[];
  /** The rounds before this one. */
  readonly #rounds: readonly ToolRound[];
  readonly #calls: Call[] = [];
  readonly #runnerOf: (name: string) => string | undefined;
  #hasNews = false;

  /** @param turn its answer so far is continued @param runnerOf who runs the tool of a name */
  constructor(
    { answer = "", reasoning = "", rounds = [] }: Partial<Turn>,
    runnerOf: (name: string) => string | undefined,
  ) {
    this.#answers = [{ answer, reasoning, end: null }];
    this.#rounds = rounds;
    this.#runnerOf = runnerOf;
  }

  add({ index, text, reasoning, finishReason, calls = [] }: AnswerPart): void {
    while (this.#answers.length <= index) this.#answers.push({ answer: "", reasoning: "", end: null });
    const answer = this.#answers[index];
    if (answer === undefined) return;
    answer.answer += text;
    answer.reasoning += reasoning;
    if (finishReason) answer.end = finishReason === "abort" ? "stopped" : finishReason;
    for (const call of calls) this.#addCall(call);
    if (text !== "" || reasoning !== "" || calls.length > 0) this.#hasNews = true;
  }

  #addCall({ index, id = "", function: { name = "", arguments: text } }: ToolCallDelta): void {
    const begun = this.#calls[index];
    // Some servers number each call 0, but give it whole.
    const isAnother = begun === undefined || (id !== "" && id !== begun.id && name !== "");
    if (!isAnother) this.#calls[index] = { ...begun, arguments: begun.arguments + text };
    else if (this.#calls.length < MAX_CALLS) {
      const isNew = id !== "" && this.#calls.every((call) => call.id !== id);
      const from = this.#runnerOf(name) ?? BY_NOBODY;
      this.#calls.push({ id: isNew ? id : `call_${randomId()}`, name, arguments: text, from, result: null });
    }
  }

  /** Characters of all answers together, with the names of the calls. */
  get length(): number {
    const texts = [...this.#answers.map(({ answer }) => answer), ...this.#calls.map(({ name }) => name)];
    return texts.reduce((sum, text) => sum + text.length, 0);
  }

  /** Returns the turn with the text since the last call, or the same turn if there is none. */
  written(turn: Turn): Turn {
    if (!this.#hasNews) return turn;
    this.#hasNews = false;
    return this.in(turn, null);
  }

  /** Returns the turn with all answers. @param otherwise end of those that didn't end by themselves; null: they still grow */
  in(turn: Turn, otherwise: TurnEnd | null): Turn {
    const [first, ...others] = this.#answers.map(({ answer, reasoning, end }): Answer => ({
      answer,
      ...(reasoning !== "" && { reasoning }),
      // The turn is in progress until all have ended.
      end: otherwise === null ? null : (end ?? otherwise),
    }));
    if (first === undefined) return turn;
    if (this.#calls.length > 0) return this.#withCalls(turn, first);
    const alternatives = others.length > 0 && { answers: [first, ...others], chosen: 0 };
    return { ...turn, ...first, ...(alternatives && { alternatives }) };
  }

  /** Returns the turn with a round of calls, before which the answer so far was said. */
  #withCalls(turn: Turn, { answer, reasoning, end }: Answer): Turn {
    const { reasoning: _, ...rest } = turn;
    const calls = this.#calls.map((call) => (end === null ? call : { ...call, result: faultOf(call) }));
    const round = { said: answer, ...(reasoning !== undefined && { reasoning }), calls };
    return { ...rest, answer: "", end: end === "stop" ? "calls" : end, rounds: [...this.#rounds, round] };
  }
}

/** Returns why a call can't run; null if it can. */
function faultOf({ name, from, arguments: text }: Call): string | null {
  if (argumentsIn(text) === null) return "Not run: its arguments are not whole, or no JSON object.";
  return from === BY_NOBODY ? `There is no tool ${JSON.stringify(name)}.` : null;
}
