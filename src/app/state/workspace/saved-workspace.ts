// The plain object that is saved in the browser and written to an export.

import type { RemoteModel } from "../../remote/answerer.ts";
import { ChorusError } from "../../../index.ts";
import { hasBegun, TURN_ENDS, type OneAnswer, type SeveralAnswers, type Turn } from "../chat/conversation.ts";
import type { ToolRound } from "../chat/tool-rounds.ts";
import { withoutLastTurn, type UnchosenTurn } from "../chat/turn-tree.ts";
import { JsonReader } from "../json-reader.ts";
import { checkSettings, MAX_ANSWERS, type Settings } from "../settings/settings.ts";

export const MAX_PANES = 16;
/** Increases when fields change their meaning. A new field has a default for older records instead. */
const VERSION = 1;
/** Greatest id of a turn: nobody asks as many. */
const MAX_TURN_ID = 2 ** 31;

export interface SavedChat {
  /** Names the chat for as long as it exists. [a new one] */
  readonly id?: string;
  /** Null if it is named after its first question. */
  readonly title: string | null;
  readonly settings: Settings;
  /** Turns on the chosen path. */
  readonly turns: readonly Turn[];
  /** All other turns: variants, and those after them. [none] */
  readonly unchosen?: readonly UnchosenTurn[];
  /** Turns before this one are not sent to the model. */
  readonly firstSent: number;
  readonly draft: string;
  /** When the newest question was asked, milliseconds since 1970. [unknown] */
  readonly askedMs?: number;
  /** The server's model that answers, without its key. [this page's engine] */
  readonly answerer?: RemoteModel;
}

export type NamedChat = SavedChat & { readonly id: string };

export interface SavedPane extends SavedChat {
  /** 1..16 */
  readonly number: number;
}

export interface SavedWorkspace {
  readonly app: "chorus";
  readonly version: typeof VERSION;
  /** The number of the pane in view. */
  readonly current: number;
  /** Settings for all panes. */
  readonly shared: Settings;
  /** In display order; at least one, with distinct numbers. */
  readonly panes: readonly SavedPane[];
}

export function savedWorkspace(parts: Omit<SavedWorkspace, "app" | "version">): SavedWorkspace {
  return { app: "chorus", version: VERSION, ...parts };
}

export function titleOfChat({ title, turns }: Pick<SavedChat, "title" | "turns">): string {
  return title ?? turns[0]?.question ?? "New chat";
}

/** Returns the parts of a chat that a person would miss, to compare them. */
export function textOfChat({ title, settings, turns, unchosen = [], firstSent, draft }: SavedChat): string {
  return JSON.stringify([title, settings, turns, unchosen, firstSent, draft]);
}

/** Returns a copy of a chat. */
export function asNewChat(chat: SavedChat): SavedChat {
  const { id: _, ...copy } = chat;
  return copy;
}

/** Returns whether the chat has no text. */
export function isBlank({ title, turns, draft }: Pick<SavedChat, "title" | "turns" | "draft">): boolean {
  return title === null && turns.length === 0 && draft.trim() === "";
}

/** @throws ChorusError that names the first wrong place */
export function parseSavedWorkspace(value: unknown): SavedWorkspace {
  const root = new JsonReader(value);
  root.field("app").oneOf(["chorus"]);
  root.field("version").integer(VERSION, VERSION);
  const panes = root.field("panes").list();
  if (panes.length === 0 || panes.length > MAX_PANES) throw root.field("panes").wrong(`1 to ${MAX_PANES} panes`);
  const parsed = panes.map(parsePane);
  const numbers = new Set(parsed.map(({ number }) => number));
  if (numbers.size < parsed.length) throw root.field("panes").wrong("panes with a number each of its own");
  return savedWorkspace({
    current: root.field("current").integer(1, MAX_PANES),
    shared: parseSettings(root.field("shared")),
    panes: parsed,
  });
}

function parsePane(pane: JsonReader): SavedPane {
  return { ...parseSavedChat(pane), number: pane.field("number").integer(1, MAX_PANES) };
}

/** @throws ChorusError that names the first wrong place */
export function parseSavedChat(chat: JsonReader): SavedChat {
  const turns = parsePath(chat.field("turns"));
  return {
    ...(chat.has("id") && { id: chat.field("id").string() }),
    title: chat.field("title").orNull((title) => title.string()),
    settings: parseSettings(chat.field("settings")),
    turns,
    ...(chat.has("unchosen") && { unchosen: parseUnchosen(chat.field("unchosen"), turns) }),
    firstSent: chat.field("firstSent").integer(0, Math.max(0, turns.length - 1)),
    draft: chat.field("draft").string(),
    ...(chat.has("askedMs") && { askedMs: chat.field("askedMs").integer(0, Number.MAX_SAFE_INTEGER) }),
    ...(chat.has("answerer") && { answerer: parseRemoteModel(chat.field("answerer")) }),
  };
}

/** Parses a path, along which ids must increase. */
function parsePath(path: JsonReader): readonly Turn[] {
  let leastId = 0;
  return path.list().map((turn) => {
    const parsed = parseTurn(turn, leastId);
    leastId = parsed.id + 1;
    return parsed;
  });
}

function parseUnchosen(list: JsonReader, turns: readonly Turn[]): readonly UnchosenTurn[] {
  const ids = new Set(turns.map(({ id }) => id));
  const unchosen = list.list().map((turn): [JsonReader, UnchosenTurn] => {
    const after = turn.field("after").orNull((id) => id.integer(0, MAX_TURN_ID));
    const parsed = { ...parseTurn(turn, after === null ? 0 : after + 1), after };
    if (ids.has(parsed.id)) throw turn.field("id").wrong("an id that no other turn has");
    ids.add(parsed.id);
    return [turn, parsed];
  });
  for (const [turn, { after }] of unchosen) {
    // The path ends where no turn follows.
    const isUnknown = after !== null && !ids.has(after);
    if (isUnknown || after === (turns.at(-1)?.id ?? null)) throw turn.field("after").wrong("the id of an earlier turn");
  }
  return unchosen.map(([, turn]) => turn);
}

function parseRemoteModel(remote: JsonReader): RemoteModel {
  return { baseUrl: remote.field("baseUrl").string(), model: remote.field("model").string() };
}

function parseTurn(turn: JsonReader, leastId: number): Turn {
  return {
    id: turn.has("id") ? turn.field("id").integer(leastId, MAX_TURN_ID) : leastId,
    question: turn.field("question").string(),
    ...parseAnswer(turn),
    ...(turn.has("rounds") && { rounds: turn.field("rounds").list().map(parseRound) }),
    ...(turn.has("by") && { by: turn.field("by").string() }),
    ...(turn.has("several") && { several: parseSeveral(turn.field("several")) }),
  };
}

function parseAnswer(answer: JsonReader): OneAnswer {
  // Turns had no reasoning at first, and most still have none.
  const reasoning = answer.has("reasoning") ? answer.field("reasoning").string() : "";
  return {
    answer: answer.field("answer").string(),
    ...(reasoning !== "" && { reasoning }),
    end: answer.field("end").orNull((end) => end.oneOf(TURN_ENDS)),
  };
}

function parseRound(round: JsonReader): ToolRound {
  const calls = round.field("calls").list();
  return {
    said: round.field("said").string(),
    ...(round.has("reasoning") && { reasoning: round.field("reasoning").string() }),
    calls: calls.map((call) => ({
      id: call.field("id").string(),
      name: call.field("name").string(),
      arguments: call.field("arguments").string(),
      from: call.field("from").string(),
      result: call.field("result").orNull((result) => result.string()),
    })),
  };
}

function parseSeveral(several: JsonReader): SeveralAnswers {
  const answers = several.field("answers").list();
  if (answers.length > MAX_ANSWERS) throw several.field("answers").wrong(`at most ${MAX_ANSWERS} answers`);
  return { answers: answers.map(parseAnswer), chosen: several.field("chosen").integer(0, answers.length - 1) };
}

function parseSettings(settings: JsonReader): Settings {
  try {
    return checkSettings(settings.object());
  } catch (error) {
    if (!(error instanceof ChorusError) || error.param === settings.path) throw error;
    throw new ChorusError(error.code, `${settings.path}: ${error.message}`, `${settings.path}.${error.param}`);
  }
}

/**
 * Returns a chat as it is reopened: an unfinished answer becomes an interrupted one, a question without an answer
 * becomes the draft.
 */
export function resumed<Chat extends SavedChat>(chat: Chat): Chat {
  const { turns, unchosen = [], firstSent } = chat;
  const last = turns.at(-1);
  if (last === undefined || last.end !== null) return chat;
  if (hasBegun(last)) return { ...chat, turns: [...turns.slice(0, -1), interrupted(last)] };
  const rest = withoutLastTurn({ turns, unchosen });
  const draft = [last.question, chat.draft].filter((text) => text.trim() !== "").join("\n");
  return { ...chat, ...rest, firstSent: Math.min(firstSent, Math.max(0, rest.turns.length - 1)), draft };
}

function interrupted({ several, ...turn }: Turn): Turn {
  const end = "interrupted";
  const answers = several?.answers.map((answer) => ({ ...answer, end: answer.end ?? end }));
  return { ...turn, end, ...(several && answers && { several: { ...several, answers } }) };
}
