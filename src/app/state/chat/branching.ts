import type { LikelyToken } from "./answer-tokens.ts";
import type { Asking } from "./asking.ts";
import { withoutAlternatives, type Turn } from "./conversation.ts";
import { hasTools } from "../settings/question-settings.ts";

/** Returns whether a turn's tokens can be found by its text: this page's engine gave it, by a chat template without tools. */
export function canScore({ showsPrompt, settings }: Asking, turn: Turn): boolean {
  return showsPrompt && turn.by === undefined && turn.answer !== "" && !turn.rounds && !hasTools(settings);
}

/** Returns whether an answer can go on with a token: control tokens and parts of characters have no text of their own. */
export function canBranchWith({ text }: LikelyToken): boolean {
  return text !== "" && !text.includes("\ufffd");
}

/** Returns the turn with an answer that consists of these tokens and is to be continued. */
export function branchedTurn(turn: Turn, tokens: readonly LikelyToken[]): Turn {
  return { ...withoutAlternatives(turn), answer: tokens.map(({ text }) => text).join(""), end: "stopped" };
}
