import type { ChatMessageParam } from "../../../index.ts";
import {
  listOf,
  oneOf,
  optional,
  orNull,
  recordOf,
  text,
  wholeNumber,
  wrong,
  type Read,
  type RecordOf,
} from "../read-record.ts";
import { MAX_ANSWERS } from "../settings/settings.ts";
import { readRound, roundMessages, waitingCalls } from "./tool-rounds.ts";

/** By itself, at the length limit, by the person, as the engine died, or with calls whose results the model has not seen. */
const readEnd = oneOf("stop", "length", "stopped", "interrupted", "calls");
export type TurnEnd = ReturnType<typeof readEnd>;

const ANSWER = {
  answer: text,
  /** The model's thought before its answer. It is not sent again. [none] */
  reasoning: optional(text),
  /** Null while it is in progress. */
  end: orNull(readEnd),
};
export type Answer = RecordOf<typeof ANSWER>;

const ALTERNATIVES = recordOf({ answers: listOf(recordOf(ANSWER)), chosen: wholeNumber(0, MAX_ANSWERS - 1) });
export type Alternatives = ReturnType<typeof ALTERNATIVES>;

const readAlternatives: Read<Alternatives> = (value, path) => {
  const read = ALTERNATIVES(value, path);
  const { answers, chosen } = read;
  if (answers.length > MAX_ANSWERS) throw wrong(answers, `${path}.answers`, `at most ${MAX_ANSWERS} answers`);
  wholeNumber(0, answers.length - 1)(chosen, `${path}.chosen`);
  return read;
};

/** Greatest id of a turn: nobody asks as many. */
export const MAX_TURN_ID = 2 ** 31;

/** The fields of a turn. */
export const TURN = {
  id: wholeNumber(0, MAX_TURN_ID),
  question: text,
  ...ANSWER,
  /** The calls of tools before the answer. [none] */
  rounds: optional(listOf(readRound)),
  /** The answerer, if not this page's engine: "model at host". */
  by: optional(text),
  /** All answers, if several were requested. The turn's own is the chosen one. */
  alternatives: optional(readAlternatives),
};
export type Turn = RecordOf<typeof TURN>;

export function withoutAlternatives(turn: Turn): Turn {
  const { alternatives: _, ...alone } = turn;
  return alone;
}

/** Returns the turn with another of its answers; null if there is none of that index. */
export function withAlternative(turn: Turn, chosen: number): Turn | null {
  const answer = turn.alternatives?.answers[chosen];
  if (turn.alternatives === undefined || answer === undefined) return null;
  const { reasoning: _, ...rest } = turn;
  return { ...rest, ...answer, alternatives: { ...turn.alternatives, chosen } };
}

/** Returns the turn with its answerer, "model at host"; null for this page's engine. */
export function answeredBy(turn: Turn, by: string | null): Turn {
  const { by: _, ...rest } = turn;
  return by === null ? rest : { ...rest, by };
}

/** Returns whether the answer can be continued: the text, or after calls that all have results. */
export function isUnfinished(turn: Turn): boolean {
  const { answer, end, rounds } = turn;
  return end !== null && end !== "stop" && (answer !== "" || (rounds !== undefined && waitingCalls(turn).length === 0));
}

/** Returns whether the model has said or called anything. */
export function hasBegun({ answer, rounds }: Turn): boolean {
  return answer !== "" || rounds !== undefined;
}

/**
 * Returns the messages of the turns from `contextStart` on. A turn that was stopped before its first word is left out. If
 * the newest turn already has text, the last message is that text, to be continued.
 */
export function messagesFrom(turns: readonly Turn[], contextStart: number, system = ""): ChatMessageParam[] {
  const messages: ChatMessageParam[] = system.trim() === "" ? [] : [{ role: "system", content: system }];
  turns.forEach((turn, index) => {
    const { question, answer } = turn;
    if (index < contextStart || (!hasBegun(turn) && index < turns.length - 1)) return;
    messages.push({ role: "user", content: question }, ...roundMessages(turn));
    if (answer !== "") messages.push({ role: "assistant", content: answer });
  });
  return messages;
}

/** Returns `contextStart` with one answered turn fewer; null if only the newest question is left. */
export function leaveOutOldest(turns: readonly Turn[], contextStart: number): number | null {
  for (let index = contextStart; index < turns.length - 1; index++) {
    const turn = turns[index];
    if (turn && hasBegun(turn)) return index + 1;
  }
  return null;
}

/** Returns the first turn with which at most three quarters of the characters are sent: a guess, where no tokens are counted. */
export function leaveOutQuarter(turns: readonly Turn[], contextStart: number): number {
  const lengthOf = ({ question, answer, rounds }: Turn) =>
    question.length + answer.length + (rounds ? JSON.stringify(rounds).length : 0);
  let length = turns.slice(contextStart).reduce((sum, turn) => sum + lengthOf(turn), 0);
  const most = 0.75 * length;
  let first = contextStart;
  for (const turn of turns.slice(contextStart, -1)) {
    if (length <= most) break;
    length -= lengthOf(turn);
    first++;
  }
  return first;
}
