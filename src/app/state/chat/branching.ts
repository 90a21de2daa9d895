// Continues an answer from any of its words with another word.

import type { LikelyToken } from "./answer-tokens.ts";
import { continuesText } from "../settings/settings.ts";
import type { Pane, PaneContext } from "./pane.ts";
import { withoutOthers, type Turn } from "./conversation.ts";

/** Returns whether a turn's tokens can be found by its text: the page's engine has a chat template and gave the answer. */
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
