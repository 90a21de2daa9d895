// The tokens of answers, with their likelihoods and requests. They link the words of a chat to the steps of the batch, and an
// answer can be continued from any of them.

import type { CompletionLogprobs, TokenLogprob, TopLogprob } from "../../../index.ts";

/** A possible token at a place of an answer. */
export interface LikelyToken {
  /** Null if the answerer doesn't report it. */
  readonly id: number | null;
  /** Its text. Empty for control tokens, and for the beginning of a character that the next token ends. */
  readonly text: string;
  /** Natural log of its probability. */
  readonly logprob: number;
}

export interface AnswerToken extends LikelyToken {
  /** The most likely tokens in its place, most likely first. Empty if they were not asked for. */
  readonly likeliest: readonly LikelyToken[];
}

export interface TurnTokens {
  /** Tokens of the thought before the answer. */
  readonly reasoning: readonly AnswerToken[];
  readonly answer: readonly AnswerToken[];
}

/** A token of a request's answer. */
export interface OutputPlace {
  /** The page's name of the request. */
  readonly requestName: string;
  /** 0 is the request's first token. */
  readonly output: number;
}

/** A token of a turn: its reasoning's tokens come first. */
export interface TurnPlace {
  readonly turnId: number;
  readonly token: number;
}

interface TurnEntry {
  readonly all: AnswerToken[];
  numReasoning: number;
  hasAnswer: boolean;
  /** Requests that answered or continued the turn, with the number of tokens before them. */
  readonly requests: { readonly name: string; readonly first: number }[];
}

/** The tokens of a chat's answers by turn id. They are not saved, and last as long as the page. */
export class AnswerTokens {
  readonly #ofTurns = new Map<number, TurnEntry>();

  /** Begins a request that answers a turn or continues its answer. An answer with an unknown beginning stays unknown. */
  begin(turnId: number, requestName: string, isContinued: boolean): void {
    if (!isContinued) this.#ofTurns.set(turnId, { all: [], numReasoning: 0, hasAnswer: false, requests: [] });
    const entry = this.#ofTurns.get(turnId);
    entry?.requests.push({ name: requestName, first: entry.all.length });
  }

  forget(turnId: number): void {
    this.#ofTurns.delete(turnId);
  }

  /** @param part the new text with its tokens; without tokens it is not kept */
  add(turnId: number, part: { text: string; reasoning: string; tokens: readonly AnswerToken[] | null }): void {
    const entry = this.#ofTurns.get(turnId);
    if (entry === undefined || part.tokens === null) return;
    // What came before the answer's first text was reasoning, or held back with it.
    if (part.text !== "" && part.reasoning === "" && !entry.hasAnswer && entry.numReasoning > 0) {
      entry.numReasoning = entry.all.length;
    }
    entry.hasAnswer ||= part.text !== "";
    entry.all.push(...part.tokens);
    if (part.reasoning !== "") entry.numReasoning = entry.all.length;
  }

  /** Begins an answer with the tokens of another one. */
  adopt(turnId: number, { reasoning, answer }: TurnTokens): void {
    const all = [...reasoning, ...answer];
    this.#ofTurns.set(turnId, { all, numReasoning: reasoning.length, hasAnswer: true, requests: [] });
  }

  /** Adds a token's likeliest alternatives, which arrive later than the token. */
  setLikeliest({ turnId, token }: TurnPlace, likeliest: readonly LikelyToken[]): void {
    const entry = this.#ofTurns.get(turnId);
    const known = entry?.all[token];
    if (entry && known) entry.all[token] = { ...known, likeliest };
  }

  /** Returns the answer's tokens; null if unknown. */
  of(turnId: number): TurnTokens | null {
    const entry = this.#ofTurns.get(turnId);
    if (entry === undefined || entry.all.length === 0) return null;
    const { all, numReasoning } = entry;
    return { reasoning: all.slice(0, numReasoning), answer: all.slice(numReasoning) };
  }

  /** Returns the ids of the tokens that an answer consists of, to continue it exactly; null if they are not known. */
  idsOf(turnId: number, answer: string): number[] | null {
    const entry = this.#ofTurns.get(turnId);
    if (entry === undefined || answer === "") return null;
    let length = 0;
    let end = entry.numReasoning;
    // A stop string that was held back has tokens, but no text.
    while (length < answer.length && end < entry.all.length) length += entry.all[end++]?.text.length ?? 0;
    const ids = entry.all.slice(0, end).flatMap(({ id }) => id ?? []);
    const text = entry.all.slice(entry.numReasoning, end).reduce((all, token) => all + token.text, "");
    return text === answer && ids.length === end && end > 0 ? ids : null;
  }

  /** Returns the request that made a token; null if it was not made here. */
  outputOf({ turnId, token }: TurnPlace): OutputPlace | null {
    const request = this.#ofTurns.get(turnId)?.requests.findLast(({ first }) => first <= token);
    return request ? { requestName: request.name, output: token - request.first } : null;
  }

  /** Returns the token that a request made; null if the request is unknown here, or has not made it yet. */
  placeOf({ requestName, output }: OutputPlace): TurnPlace | null {
    for (const [turnId, { all, requests }] of this.#ofTurns) {
      const at = requests.findIndex(({ name }) => name === requestName);
      const request = requests[at];
      if (request === undefined) continue;
      const token = request.first + output;
      return token < (requests[at + 1]?.first ?? all.length) ? { turnId, token } : null;
    }
    return null;
  }

  tokenAt({ turnId, token }: TurnPlace): AnswerToken | null {
    return this.#ofTurns.get(turnId)?.all[token] ?? null;
  }
}

const ID_NAME = /^token_id:(\d+)$/;

/** Returns a reader of the tokens of one answer of a chat, in order: a character may be spread over several. */
export function tokenReader(): (tokens: readonly TokenLogprob[]) => AnswerToken[] {
  const utf8 = utf8Decoder();
  return (tokens) =>
    tokens.map((token) => ({
      ...likelyToken(token, utf8),
      likeliest: token.top_logprobs.map((other) => likelyToken(other, utf8Decoder())),
    }));
}

function utf8Decoder(): TextDecoder {
  return new TextDecoder("utf-8", { ignoreBOM: true });
}

function likelyToken({ token, logprob, bytes }: TopLogprob, utf8: TextDecoder): LikelyToken {
  const id = ID_NAME.exec(token)?.[1];
  if (id === undefined) return { id: null, text: token, logprob };
  return { id: Number(id), text: utf8.decode(Uint8Array.from(bytes), { stream: true }), logprob };
}

/** Returns the tokens of a completion, which have no ids. */
export function completionTokens({ tokens, token_logprobs, top_logprobs }: CompletionLogprobs): AnswerToken[] {
  return tokens.map((text, i) => ({
    id: null,
    text,
    logprob: token_logprobs[i] ?? 0,
    likeliest: Object.entries(top_logprobs?.[i] ?? {})
      .map(([other, logprob]) => ({ id: null, text: other, logprob }))
      .sort((a, b) => b.logprob - a.logprob),
  }));
}

/** Most characters of Markdown syntax between two visible characters. */
const LONGEST_GAP = 400;

/**
 * Returns the index of the token that each visible character of an answer belongs to. The visible text is the tokens'
 * text without Markdown syntax and line ends. A character that can't be matched belongs to the token before.
 */
export function tokenOfEachCharacter(tokens: readonly Pick<LikelyToken, "text">[], seen: string): Int32Array {
  const all = tokens.map(({ text }) => text).join("");
  const owners = new Int32Array(all.length);
  let start = 0;
  for (const [index, { text }] of tokens.entries()) {
    owners.fill(index, start, start + text.length);
    start += text.length;
  }
  const result = new Int32Array(seen.length);
  let at = -1;
  for (let index = 0; index < seen.length; index++) {
    const next = all.indexOf(seen[index] ?? "", at + 1);
    if (next >= 0 && next - at <= LONGEST_GAP) at = next;
    result[index] = owners[Math.max(at, 0)] ?? 0;
  }
  return result;
}
