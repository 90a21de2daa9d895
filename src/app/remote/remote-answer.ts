import { rootOf } from "./address.ts";
import { askServer, type ServerAccess } from "./ask-server.ts";
import { readChunk, type RemoteChunk } from "./read-chunk.ts";
import { readEvents } from "./read-events.ts";
import { readText } from "./read-text.ts";
import { RemoteError } from "./remote-error.ts";

export interface RemotePatience {
  /** Longest time without a byte, milliseconds. [180,000: prompts can be long, and queues too] */
  readonly silenceMs: number;
  /** Waits before each retry, milliseconds. An attempt that brings text starts them again. [0.5 to 8 seconds] */
  readonly retryDelaysMs: readonly number[];
}

const PATIENCE: RemotePatience = { silenceMs: 180_000, retryDelaysMs: [500, 1000, 2000, 4000, 8000] };

/** Most characters of an answer, with its reasoning. An endless answer would fill the memory. */
const MAX_ANSWER_CHARS = 4 * 2 ** 20;

/** Observes a client's requests, by their names and the page's clock. */
export interface RemoteObserver {
  sent(name: string): void;
  /** @param numTokens tokens of the whole answer so far; counted by events if the server does not count */
  received(name: string, numTokens: number): void;
  /** @param why why another attempt waits to begin, and which it is of how many */
  retrying(name: string, why: string): void;
  ended(name: string): void;
}

interface RemoteAnswerOptions extends ServerAccess {
  /** "/chat/completions" */
  readonly path: string;
  readonly name: string;
  readonly canContinue: boolean;
  /** Returns the request's body. @param soFar the answer so far, to be continued */
  readonly write: (soFar: string, numTokens: number) => string;
  readonly signal: AbortSignal | undefined;
  readonly observer?: RemoteObserver;
  readonly patience?: Partial<RemotePatience>;
}

/**
 * Sends a request to a server. Returns the chunks of its answer: if the server breaks off and can continue, the rest comes from a
 * new request.
 * @throws RemoteError for a refusal; the signal's reason
 */
export async function askForAnswer(options: RemoteAnswerOptions): Promise<AsyncGenerator<RemoteChunk, undefined>> {
  const { baseUrl, path, name, write, canContinue, signal, observer } = options;
  const { silenceMs, retryDelaysMs } = { ...PATIENCE, ...options.patience };
  const { host } = new URL(baseUrl);
  let text = "";
  let reasoning = "";
  /** Characters of the calls of tools. */
  let callChars = 0;
  let numTokens = 0;
  /** Tokens of the requests before the last, which the server does not count any more. */
  let tokensBefore = 0;
  let numFailures = 0;
  /** Whether the server has begun to answer and then broke off. */
  let isResuming = false;

  const begin = async (): Promise<Response> => {
    observer?.sent(name);
    try {
      for (;;) {
        const init = { method: "POST", body: write(text, numTokens), ...(signal && { signal }) };
        const response = await askServer(options, baseUrl + path, init).catch(async (error: unknown) => {
          if (!(await waitAfter(error))) throw error;
        });
        if (response) return response;
      }
    } catch (error) {
      observer?.ended(name);
      throw error;
    }
  };

  /** Waits before the next attempt. Returns whether there is one. @throws the signal's reason */
  const waitAfter = async (error: unknown): Promise<boolean> => {
    const delayMs = retryDelaysMs[numFailures];
    if (!(error instanceof RemoteError) || !error.isTransient || delayMs === undefined) return false;
    // Retried once, since the server may have closed an idle connection. A second failure means a wrong address.
    const isOnce = error.code === "server_unreachable" && !isResuming;
    if (isOnce && numFailures > 0) return false;
    numFailures++;
    const numAttempts = isOnce ? 2 : retryDelaysMs.length + 1;
    const what = error.isBusy ? "The server is busy" : "No answer yet";
    observer?.retrying(name, `${what}, trying again (${numFailures + 1} of ${numAttempts})`);
    await sleep(Math.max(delayMs, error.retryAfterMs), signal);
    return true;
  };

  /** Returns whether a new request can continue the answer: it can repeat the text, but neither the thought nor a call. */
  const canResume = (error: unknown): boolean => {
    if (!(error instanceof RemoteError) || !error.isTransient || callChars > 0) return false;
    return text === "" ? reasoning === "" : canContinue;
  };

  const count = (chunk: RemoteChunk): void => {
    text += chunk.text;
    reasoning += chunk.reasoning;
    for (const { function: called } of chunk.calls) callChars += called.arguments.length + 1;
    if (text.length + reasoning.length + callChars > MAX_ANSWER_CHARS) {
      throw new RemoteError("server_answer_invalid", `${host} sends an answer without end.`);
    }
    if (chunk.completionTokens !== null) numTokens = tokensBefore + chunk.completionTokens;
    else if (hasText(chunk)) numTokens++;
    else return;
    numFailures = 0;
    observer?.received(name, numTokens);
  };

  async function* dataOf(response: Response): AsyncGenerator<string, void> {
    const type = response.headers.get("content-type") ?? "";
    if (/html/i.test(type)) {
      const message = `${host} answers with a web page. Is ${rootOf(baseUrl)} the address of its API?`;
      throw new RemoteError("server_answer_invalid", message);
    }
    try {
      // Some proxies buffer a stream into one answer.
      if (/json/i.test(type)) yield await readText(response, MAX_ANSWER_CHARS);
      else yield* readEvents(response, host, silenceMs);
    } catch (cause) {
      signal?.throwIfAborted();
      if (cause instanceof RemoteError) throw cause;
      throw new RemoteError("server_failed", `The connection to ${host} broke off.`, { isTransient: true, cause });
    }
  }

  async function* chunksOf(response: Response): AsyncGenerator<RemoteChunk, void> {
    let hasEnded = false;
    for await (const data of dataOf(response)) {
      const chunk = readChunk(data, host);
      hasEnded ||= chunk.finishReason !== null;
      count(chunk);
      if (hasText(chunk) || chunk.finishReason !== null) yield chunk;
    }
    if (hasEnded) return;
    throw new RemoteError("server_failed", `${host} ended the answer before its end.`, { isTransient: true });
  }

  async function* chunks(first: Response): AsyncGenerator<RemoteChunk, undefined> {
    let response = first;
    try {
      for (;;) {
        try {
          yield* chunksOf(response);
          return;
        } catch (error) {
          signal?.throwIfAborted();
          if (!canResume(error) || !(await waitAfter(error))) throw error;
          tokensBefore = numTokens;
          isResuming = true;
          response = await begin();
        }
      }
    } finally {
      observer?.ended(name);
    }
  }
  return chunks(await begin());
}

function hasText({ text, reasoning, calls }: RemoteChunk): boolean {
  return text !== "" || reasoning !== "" || calls.length > 0;
}

async function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  const isOver = new AbortController();
  await new Promise((resolve) => {
    setTimeout(resolve, ms);
    signal?.addEventListener("abort", resolve, { signal: isOver.signal });
  });
  isOver.abort();
  signal?.throwIfAborted();
}
