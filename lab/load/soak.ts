// Many streams at once for minutes, half of them closed in the middle of an answer: none may be lost, mixed up or doubled.

import type { Random } from "../seeded-random.ts";
import { readHttpStream, type HttpAnswer, type HttpRequest, type HttpTarget } from "./http-load.ts";

interface SoakOptions {
  readonly target: HttpTarget;
  /** Each is sent many times. */
  readonly requests: readonly HttpRequest[];
  /** Number of streams open at any time. */
  readonly streams: number;
  readonly durationMs: number;
  readonly random: Random;
  /** Called with each wrong answer. */
  readonly onWrong?: (what: string) => void;
}

interface SoakResult {
  readonly finished: number;
  readonly closed: number;
  /** Number of answers that failed, broke off, or differ from the answer to the same request alone. */
  readonly wrong: number;
  /** Tokens of finished answers and of closed ones up to their close. */
  readonly tokens: number;
  readonly durationMs: number;
}

export async function soak({
  target,
  requests,
  streams,
  durationMs,
  random,
  onWrong,
}: SoakOptions): Promise<SoakResult> {
  // Each request's answer while nothing else runs.
  const alone: string[] = [];
  for (const request of requests) {
    const answer = await readHttpStream(target, request);
    const problem = problemOf(answer, request, answer.text);
    if (problem !== null) throw new Error(`The server answers wrongly before any load: ${problem}`);
    alone.push(answer.text);
  }
  const counts = { finished: 0, closed: 0, wrong: 0, tokens: 0 };
  const startMs = performance.now();
  const client = async () => {
    while (performance.now() - startMs < durationMs) {
      const at = Math.floor(random() * requests.length);
      const request = requests[at];
      if (request === undefined) return;
      const closeAfter = random() < 0.5 ? 1 + Math.floor(random() * (request.outputTokens - 1)) : Infinity;
      const answer = await readHttpStream(target, request, 0, closeAfter);
      const isClosed = closeAfter < Infinity && answer.numDone === 0;
      const problem = isClosed ? problemOfPart(answer, alone[at] ?? "") : problemOf(answer, request, alone[at] ?? "");
      if (isClosed) counts.closed++;
      else counts.finished++;
      counts.tokens += answer.record.chunks.length;
      if (problem === null) continue;
      counts.wrong++;
      onWrong?.(problem);
    }
  };
  await Promise.all(Array.from({ length: streams }, client));
  return { ...counts, durationMs: performance.now() - startMs };
}

function problemOf(
  { record, text, finishReason, numDone, ids }: HttpAnswer,
  request: HttpRequest,
  alone: string,
): string | null {
  const numTokens = record.chunks.reduce((sum, { tokens }) => sum + tokens, 0);
  if (record.error !== null) return `failed: ${record.error}`;
  if (numDone !== 1) return `ended ${numDone} times`;
  if (ids.size !== 1) return `chunks of ${ids.size} answers`;
  if (numTokens !== request.outputTokens) return `${numTokens} tokens, not ${request.outputTokens}`;
  if (finishReason !== "length") return `ended with ${finishReason}`;
  return text === alone ? null : "another text than alone";
}

function problemOfPart({ record, text, ids }: HttpAnswer, alone: string): string | null {
  if (record.error !== null) return `failed: ${record.error}`;
  if (ids.size > 1) return `chunks of ${ids.size} answers`;
  return alone.startsWith(text) ? null : "another text than alone";
}
