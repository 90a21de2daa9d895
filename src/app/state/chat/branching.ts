// Going on from any word of an answer with another one.

import type { LikelyToken } from "./answer-tokens.ts";
import { continuesText } from "../settings/settings.ts";
import type { Pane, PaneContext } from "./pane.ts";
import { withoutOthers, type Turn } from "./conversation.ts";

/** Returns whether the tokens of a turn's answer can be found by its text: the page's engine chats, and gave it. */
export function canScore(
  { engine, settings }: Pick<PaneContext, "engine" | "settings">,
  pane: Pane,
  turn: Turn,
): boolean {
  const { settings: own, answerer } = pane.store.getState();
  const state = engine.store.getState();
  if (state.status !== "ready" || answerer !== null || turn.by !== undefined || turn.answer === "") return false;
  return !continuesText({ ...settings.inherited(), ...own }, state.engine.model);
}

/** Returns whether an answer can go on with a token: control tokens and parts of characters have no text of their own. */
export function canBranchWith({ text }: LikelyToken): boolean {
  return text !== "" && !text.includes("\ufffd");
}

/** Returns the turn with an answer that consists of these tokens and is to be continued. */
export function branchedTurn(turn: Turn, tokens: readonly LikelyToken[]): Turn {
  return { ...withoutOthers(turn), answer: tokens.map(({ text }) => text).join(""), end: "stopped" };
}
