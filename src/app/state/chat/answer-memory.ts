import type { RequestMetrics } from "../../../index.ts";
import { AnswerTokens } from "./answer-tokens.ts";
import { Branches } from "./branching.ts";
import { RequestNames } from "./request-name.ts";

/** What is known of a chat's answers beside their text, by turn id. It is not saved, and lasts as long as the page. */
export class AnswerMemory {
  readonly tokens = new AnswerTokens();
  /** Of finished answers. */
  readonly metrics = new Map<number, RequestMetrics>();
  readonly branches = new Branches();
  readonly requestNames = new RequestNames();
  /** Names of the newest requests. */
  readonly requests = new Map<number, string>();
  /** Greater than the id of any turn so far, those of a chat that was cleared included. */
  nextTurnId = 0;
}
