import type { RequestMetrics } from "../../../index.ts";
import { AnswerTokens } from "./answer-tokens.ts";
import type { Settings } from "../settings/settings.ts";
import type { Figures } from "./request-stats.ts";
import { RequestNames } from "./request-name.ts";

/** The origin of an answer that begins with the words of another one. */
export interface Branch {
  /** The word with which it differs. */
  readonly word: string;
  /** Tokens of its prompt, and those of them that the prefix cache had; null while unknown. */
  readonly cost: { readonly promptTokens: number; readonly cachedTokens: number } | null;
}

/** Data about a chat's answers besides their text, by turn id. It is not saved, and lasts as long as the page. */
export class AnswerMemory {
  readonly tokens = new AnswerTokens();
  readonly metrics = new Map<number, RequestMetrics>();
  readonly branches = new Map<number, Branch>();
  /** Settings of single turns, over those of the pane. */
  readonly turnSettings = new Map<number, Settings>();
  /** The tools that run without a click, as ToolCalls names them: never saved, so that no file brings trust. */
  readonly trusted = new Set<string>();
  readonly requestNames = new RequestNames();
  /** Names of the newest requests. */
  readonly requests = new Map<number, string>();
  /** Greater than the id of any turn so far, those of a chat that was cleared included. */
  nextTurnId = 0;

  /** Keeps the cost of a branch's answer, once it is known. */
  addCost(turnId: number, { promptTokens, cachedTokens }: Pick<Figures, "promptTokens" | "cachedTokens">): void {
    const branch = this.branches.get(turnId);
    if (branch?.cost !== null || promptTokens === null || cachedTokens === null) return;
    this.branches.set(turnId, { ...branch, cost: { promptTokens, cachedTokens } });
  }
}
