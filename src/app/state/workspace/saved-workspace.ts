// The plain object that is saved in the browser and written to an export.

import { ChorusError } from "../../../index.ts";
import { hasBegun, MAX_TURN_ID, TURN, type Turn } from "../chat/conversation.ts";
import { withoutLastTurn } from "../chat/turn-tree.ts";
import {
  anyObject,
  listOf,
  oneOf,
  optional,
  orNull,
  placeOf,
  recordOf,
  text,
  wholeNumber,
  wrong,
  type Fields,
  type Read,
  type RecordOf,
} from "../read-record.ts";
import { checkSettings, type Settings } from "../settings/settings.ts";

export const MAX_PANES = 16;
/** Increases when fields change their meaning. A new field has a default for older records instead; a renamed one is in FORMER_NAMES. */
const VERSION = 1;

export type SavedChat = RecordOf<typeof CHAT>;
export type NamedChat = SavedChat & { readonly id: string };

export type SavedPane = ReturnType<typeof readPane>;
export type SavedWorkspace = Readonly<ReturnType<typeof WORKSPACE>>;

export function savedWorkspace(parts: Omit<SavedWorkspace, "app" | "version">): SavedWorkspace {
  return { app: "chorus", version: VERSION, ...parts };
}

export function titleOfChat({ title, turns }: Pick<SavedChat, "title" | "turns">): string {
  return title ?? turns[0]?.question ?? "New chat";
}

/** Returns the parts of a chat that a person would miss, to compare them. */
export function textOfChat({ title, settings, turns, inactiveTurns = [], contextStart, draft }: SavedChat): string {
  return JSON.stringify([title, settings, turns, inactiveTurns, contextStart, draft]);
}

export function asNewChat(chat: SavedChat): SavedChat {
  const { id: _, ...copy } = chat;
  return copy;
}

export function isBlank({ title, turns, draft }: Pick<SavedChat, "title" | "turns" | "draft">): boolean {
  return title === null && turns.length === 0 && draft.trim() === "";
}

/** @throws ChorusError that names the first wrong place */
export const readSettings: Read<Settings> = (value, path) => {
  const settings = anyObject(value, path);
  try {
    return checkSettings(settings);
  } catch (error) {
    if (!(error instanceof ChorusError)) throw error;
    throw new ChorusError(error.code, `${path}: ${error.message}`, `${path}.${error.param}`);
  }
};

/** What earlier versions called these fields. */
const FORMER_NAMES: ReadonlyMap<string, string> = new Map([
  ["several", "alternatives"],
  ["unchosen", "inactiveTurns"],
  ["firstSent", "contextStart"],
]);

/** Like recordOf; fields may have their former names. */
function savedRecordOf<F extends Fields>(fields: F): Read<RecordOf<F>> {
  const read = recordOf(fields);
  return (value, path) => {
    const given = Object.entries(anyObject(value, path)).map(([name, one]) => [FORMER_NAMES.get(name) ?? name, one]);
    return read(Object.fromEntries(given), path);
  };
}

const CHAT = {
  /** Names the chat for as long as it exists. [a new one] */
  id: optional(text),
  /** Null if it is named after its first question. */
  title: orNull(text),
  settings: readSettings,
  /** Turns on the chosen path. */
  turns: listOf(savedRecordOf(TURN)),
  /** All other turns: variants, and those after them. [none] */
  inactiveTurns: optional(listOf(savedRecordOf({ ...TURN, after: orNull(TURN.id) }))),
  /** Turns before this one are not sent to the model. */
  contextStart: wholeNumber(0, MAX_TURN_ID),
  draft: text,
  /** When the newest question was asked, milliseconds since 1970. [unknown] */
  askedMs: optional(wholeNumber(0, Number.MAX_SAFE_INTEGER)),
  /** The server's model that answers, without its key. [this page's engine] */
  answerer: optional(recordOf({ baseUrl: text, model: text })),
};

/** @throws ChorusError that names the first wrong place */
export const readChat = treeOf(savedRecordOf(CHAT));
const readPane = treeOf(savedRecordOf({ ...CHAT, number: wholeNumber(1, MAX_PANES) }));

/** Returns a reader that checks also that a chat's turns are a tree. */
function treeOf<Chat extends SavedChat>(read: Read<Chat>): Read<Chat> {
  return (value, path) => {
    const saved = read(value, path);
    const { turns, inactiveTurns = [], contextStart } = saved;
    wholeNumber(0, Math.max(0, turns.length - 1))(contextStart, placeOf(path, "contextStart"));
    const ids = new Set<number>();
    const add = (id: number, least: number, place: string) => {
      if (ids.has(id)) throw wrong(id, `${place}.id`, "an id that no other turn has");
      ids.add(wholeNumber(least, MAX_TURN_ID)(id, `${place}.id`));
    };
    turns.forEach(({ id }, i) => add(id, (turns[i - 1]?.id ?? -1) + 1, `${placeOf(path, "turns")}[${i}]`));
    inactiveTurns.forEach(({ id, after }, i) => add(id, (after ?? -1) + 1, `${placeOf(path, "inactiveTurns")}[${i}]`));
    // The path ends where no turn follows.
    const last = turns.at(-1)?.id ?? null;
    const stray = inactiveTurns.findIndex(({ after }) => after === last || (after !== null && !ids.has(after)));
    if (stray < 0) return saved;
    throw wrong(stray, `${placeOf(path, "inactiveTurns")}[${stray}].after`, "the id of an earlier turn");
  };
}

const WORKSPACE = recordOf({
  app: oneOf("chorus"),
  version: oneOf(VERSION),
  current: wholeNumber(1, MAX_PANES),
  shared: readSettings,
  /** In display order; at least one, with distinct numbers. */
  panes: listOf(readPane),
});

/** @throws ChorusError that names the first wrong place */
export function parseSavedWorkspace(value: unknown): SavedWorkspace {
  const saved = WORKSPACE(value, "");
  const { panes } = saved;
  if (panes.length === 0 || panes.length > MAX_PANES) throw wrong(panes, "panes", `1 to ${MAX_PANES} panes`);
  const numbers = new Set(panes.map(({ number }) => number));
  if (numbers.size < panes.length) throw wrong(panes, "panes", "panes with a number each of its own");
  return saved;
}

/** Returns a chat as it is reopened: an unfinished answer is interrupted, an unanswered question becomes the draft. */
export function resumed<Chat extends SavedChat>(chat: Chat): Chat {
  const { turns, inactiveTurns = [], contextStart } = chat;
  const last = turns.at(-1);
  if (last === undefined || last.end !== null) return chat;
  if (hasBegun(last)) return { ...chat, turns: [...turns.slice(0, -1), interrupted(last)] };
  const rest = withoutLastTurn({ turns, inactiveTurns });
  const draft = [last.question, chat.draft].filter((one) => one.trim() !== "").join("\n");
  return { ...chat, ...rest, contextStart: Math.min(contextStart, Math.max(0, rest.turns.length - 1)), draft };
}

function interrupted({ alternatives, ...turn }: Turn): Turn {
  const end = "interrupted";
  const answers = alternatives?.answers.map((answer) => ({ ...answer, end: answer.end ?? end }));
  return { ...turn, end, ...(alternatives && answers && { alternatives: { ...alternatives, answers } }) };
}
