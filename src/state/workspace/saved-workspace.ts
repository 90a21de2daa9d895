// The plain object that is saved in the browser and written to an export.

import type { RemoteModel } from "../../protocol/answerer.ts";
import { ChorusError } from "../../protocol/errors.ts";
import { TURN_ENDS, type OneAnswer, type SeveralAnswers, type Turn } from "../chat/conversation.ts";
import { JsonReader } from "../json-reader.ts";
import { checkSettings } from "../settings/check-settings.ts";
import { MAX_ANSWERS, type Settings } from "../settings/settings.ts";

export const MAX_PANES = 16;
/** Increases when the shape changes; older versions are then read by their own rules. */
const VERSION = 1;

export interface SavedChat {
  /** Null: named after its first question. */
  readonly title: string | null;
  readonly settings: Settings;
  readonly turns: readonly Turn[];
  /** Turns before this one are not sent to the model. */
  readonly firstSent: number;
  readonly draft: string;
  /** The server's model that answers, without its key. [this page's engine] */
  readonly answerer?: RemoteModel;
}

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

export function savedWorkspace(parts: Pick<SavedWorkspace, "current" | "shared" | "panes">): SavedWorkspace {
  return { app: "chorus", version: VERSION, ...parts };
}

export function titleOfChat({ title, turns }: Pick<SavedChat, "title" | "turns">): string {
  return title ?? turns[0]?.question ?? "New chat";
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
  const turns = pane.field("turns").list().map(parseTurn);
  return {
    number: pane.field("number").integer(1, MAX_PANES),
    title: pane.field("title").orNull((title) => title.string()),
    settings: parseSettings(pane.field("settings")),
    turns,
    firstSent: pane.field("firstSent").integer(0, Math.max(0, turns.length - 1)),
    draft: pane.field("draft").string(),
    ...(pane.has("answerer") && { answerer: parseRemoteModel(pane.field("answerer")) }),
  };
}

function parseRemoteModel(remote: JsonReader): RemoteModel {
  return { baseUrl: remote.field("baseUrl").string(), model: remote.field("model").string() };
}

function parseTurn(turn: JsonReader, index: number): Turn {
  return {
    id: index,
    question: turn.field("question").string(),
    ...parseAnswer(turn),
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
  const last = chat.turns.at(-1);
  if (last === undefined || last.end !== null) return chat;
  const before = chat.turns.slice(0, -1);
  if (last.answer !== "") return { ...chat, turns: [...before, interrupted(last)] };
  const draft = [last.question, chat.draft].filter((text) => text.trim() !== "").join("\n");
  return { ...chat, turns: before, firstSent: Math.min(chat.firstSent, Math.max(0, before.length - 1)), draft };
}

function interrupted({ several, ...turn }: Turn): Turn {
  const end = "interrupted";
  const answers = several?.answers.map((answer) => ({ ...answer, end: answer.end ?? end }));
  return { ...turn, end, ...(several && answers && { several: { ...several, answers } }) };
}
