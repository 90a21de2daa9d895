import type { ChorusEngine } from "../protocol/engine.ts";

export type ServedEngine = Pick<
  ChorusEngine,
  "model" | "chat" | "completions" | "tokenize" | "detokenize" | "metrics" | "stats"
>;

export interface ServedRequest {
  readonly request: Request;
  readonly engine: ServedEngine;
  /** Of the model, for clients; none: its own. */
  readonly names: readonly string[];
  /** Part of the answer's id and of the engine's reports about it. */
  readonly requestId: string;
}

/** Answers a request as fetch would: with a Response, or by rejecting with the reason of the request's signal. */
export type Handler = (request: Request) => Promise<Response>;
