import { rootOf } from "./address.ts";
import { askServer, type ServerAccess } from "./ask-server.ts";
import { readChunk, type RemoteChunk } from "./read-chunk.ts";
import { readEvents } from "./read-events.ts";
import { readText } from "./read-text.ts";
import { RemoteError } from "./remote-error.ts";

/** The time limit of a server, and the delays of retries. */
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
  /** Whether the server can continue a given beginning of an answer. */
  readonly canContinue: boolean;
  /** Returns the request's body. @param soFar the answer so far, to be continued */
  readonly write: (soFar: string, numTokens: number) => string;
  readonly signal: AbortSignal | undefined;
  readonly observer?: RemoteObserver;
  readonly patience?: Partial<RemotePatience>;
}

/** One request to a server, and its answer. */
export class RemoteAnswer {
  readonly #options: RemoteAnswerOptions;
  readonly #patience: RemotePatience;
  readonly #host: string;
  #response: Response | null = null;
  #text = "";
  #reasoning = "";
  /** Characters of the calls of tools. */
  #callChars = 0;
  #numTokens = 0;
  /** Tokens of the requests before the last, which the server does not count any more. */
  #tokensBefore = 0;
  #numFailures = 0;
  /** Whether the server has begun to answer and then broke off. */
  #isResuming = false;

  constructor(options: RemoteAnswerOptions) {
    this.#options = options;
    this.#patience = { ...PATIENCE, ...options.patience };
    this.#host = new URL(options.baseUrl).host;
  }

  /** Sends the request. @throws RemoteError for a refusal; the signal's reason */
  async begin(): Promise<void> {
    const { observer, name } = this.#options;
    observer?.sent(name);
    try {
      this.#response = await this.#askPatiently();
    } catch (error) {
      observer?.ended(name);
      throw error;
    }
  }

  /** Yields the server's chunks. If it breaks off and can continue, the rest comes from a new request. */
  async *chunks(): AsyncGenerator<RemoteChunk, undefined> {
    try {
      for (;;) {
        try {
          yield* this.#chunksOfResponse();
          return;
        } catch (error) {
          this.#options.signal?.throwIfAborted();
          if (!this.#canResume(error) || !(await this.#waitAfter(error))) throw error;
          this.#tokensBefore = this.#numTokens;
          this.#isResuming = true;
          await this.begin();
        }
      }
    } finally {
      this.#options.observer?.ended(this.#options.name);
    }
  }

  async #askPatiently(): Promise<Response> {
    for (;;) {
      try {
        return await this.#ask();
      } catch (error) {
        if (!(await this.#waitAfter(error))) throw error;
      }
    }
  }

  #ask(): Promise<Response> {
    const { baseUrl, path, write, signal } = this.#options;
    const body = write(this.#text, this.#numTokens);
    return askServer(this.#options, baseUrl + path, { method: "POST", body, ...(signal && { signal }) });
  }

  async *#chunksOfResponse(): AsyncGenerator<RemoteChunk, void> {
    const response = this.#response;
    if (response === null) return;
    let hasEnded = false;
    for await (const data of this.#dataOf(response)) {
      const chunk = readChunk(data, this.#host);
      hasEnded ||= chunk.finishReason !== null;
      this.#count(chunk);
      if (hasText(chunk) || chunk.finishReason !== null) yield chunk;
    }
    if (hasEnded) return;
    const message = `${this.#host} ended the answer before its end.`;
    throw new RemoteError("server_failed", message, { isTransient: true });
  }

  async *#dataOf(response: Response): AsyncGenerator<string, void> {
    const type = response.headers.get("content-type") ?? "";
    if (/html/i.test(type)) {
      const message = `${this.#host} answers with a web page. Is ${rootOf(this.#options.baseUrl)} the address of its API?`;
      throw new RemoteError("server_answer_invalid", message);
    }
    try {
      // Some proxies buffer a stream into one answer.
      if (/json/i.test(type)) yield await readText(response, MAX_ANSWER_CHARS);
      else yield* readEvents(response, this.#host, this.#patience.silenceMs);
    } catch (cause) {
      this.#options.signal?.throwIfAborted();
      if (cause instanceof RemoteError) throw cause;
      const message = `The connection to ${this.#host} broke off.`;
      throw new RemoteError("server_failed", message, { isTransient: true, cause });
    }
  }

  #count(chunk: RemoteChunk): void {
    const { text, reasoning, calls, completionTokens } = chunk;
    this.#text += text;
    this.#reasoning += reasoning;
    for (const { function: called } of calls) this.#callChars += called.arguments.length + 1;
    if (this.#text.length + this.#reasoning.length + this.#callChars > MAX_ANSWER_CHARS) {
      throw new RemoteError("server_answer_invalid", `${this.#host} sends an answer without end.`);
    }
    if (completionTokens !== null) this.#numTokens = this.#tokensBefore + completionTokens;
    else if (hasText(chunk)) this.#numTokens++;
    else return;
    this.#numFailures = 0;
    this.#options.observer?.received(this.#options.name, this.#numTokens);
  }

  /** Returns whether a new request can continue the answer: it can repeat the text, but neither the thought nor a call. */
  #canResume(error: unknown): boolean {
    if (!(error instanceof RemoteError) || !error.isTransient || this.#callChars > 0) return false;
    if (this.#text === "") return this.#reasoning === "";
    return this.#options.canContinue;
  }

  /** Waits before the next attempt. Returns whether there is one. @throws the signal's reason */
  async #waitAfter(error: unknown): Promise<boolean> {
    const { retryDelaysMs } = this.#patience;
    const delayMs = retryDelaysMs[this.#numFailures];
    if (!(error instanceof RemoteError) || !error.isTransient || delayMs === undefined) return false;
    // Retried once, since the server may have closed an idle connection. A second failure means a wrong address.
    const isOnce = error.code === "server_unreachable" && !this.#isResuming;
    if (isOnce && this.#numFailures > 0) return false;
    this.#numFailures++;
    const { observer, name } = this.#options;
    const numAttempts = isOnce ? 2 : retryDelaysMs.length + 1;
    const what = error.isBusy ? "The server is busy" : "No answer yet";
    observer?.retrying(name, `${what}, trying again (${this.#numFailures + 1} of ${numAttempts})`);
    await sleep(Math.max(delayMs, error.retryAfterMs), this.#options.signal);
    return true;
  }
}

function hasText({ text, reasoning, calls }: RemoteChunk): boolean {
  return text !== "" || reasoning !== "" || calls.length > 0;
}

function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", abort, { once: true });
  });
}
