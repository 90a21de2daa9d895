// The calls of tools before an answer: a round is what the model called at once, and what came of it.

import { parseJson, type ChatMessageParam } from "../../../index.ts";
import { attempt } from "../../attempt.ts";
import { isObject, listOf, optional, orNull, recordOf, text } from "../read-record.ts";

const readCall = recordOf({
  id: text,
  name: text,
  /** The text of a JSON object, unless the model was cut off. */
  arguments: text,
  /** Who runs it: the page, the person who types its result, a server's address, or nobody: there is no such tool. */
  from: text,
  /** Null while it waits, or runs. */
  result: orNull(text),
});
export type Call = ReturnType<typeof readCall>;

export const readRound = recordOf({
  /** The model's text before its calls. */
  said: text,
  /** Its thought before that. [none] */
  reasoning: optional(text),
  calls: listOf(readCall),
});
export type ToolRound = ReturnType<typeof readRound>;

interface WithRounds {
  readonly rounds?: readonly ToolRound[];
}

export const BY_PAGE = "page";
export const BY_PERSON = "person";
export const BY_NOBODY = "";

/** After this many rounds the model must answer. */
export const MAX_ROUNDS = 8;
/** Most calls of a round. */
export const MAX_CALLS = 32;

export function waitingCalls({ rounds = [] }: WithRounds): readonly Call[] {
  return rounds.at(-1)?.calls.filter(({ result }) => result === null) ?? [];
}

/** Returns the turn with the result of one of its newest calls. */
export function withResult<Turn extends WithRounds>(turn: Turn, id: string, result: string): Turn {
  const { rounds = [] } = turn;
  const last = rounds.at(-1);
  if (last === undefined) return turn;
  const calls = last.calls.map((call) => (call.id === id && call.result === null ? { ...call, result } : call));
  return { ...turn, rounds: [...rounds.slice(0, -1), { ...last, calls }] };
}

/** Returns the calls and their results as messages. A request whose calls have no result would be refused. */
export function roundMessages({ rounds = [] }: WithRounds): ChatMessageParam[] {
  return rounds.flatMap(({ said, calls }): ChatMessageParam[] => [
    {
      role: "assistant",
      content: said === "" ? null : said,
      tool_calls: calls.map(({ id, name, arguments: given }) => ({
        id,
        type: "function",
        function: { name, arguments: argumentsIn(given) ? given : "{}" },
      })),
    },
    ...calls.map(({ id, result }) => ({ role: "tool" as const, tool_call_id: id, content: result ?? "Not run." })),
  ]);
}

/** Returns a call's arguments; null if they are no object. */
export function argumentsIn(given: string): Readonly<Record<string, unknown>> | null {
  const value = attempt(() => parseJson(given.trim() === "" ? "{}" : given), null);
  return isObject(value) ? { ...value } : null;
}
