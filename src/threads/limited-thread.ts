import { ChorusError, fromErrorData, type ChorusErrorData } from "../protocol/errors.ts";
import type { ThreadPort } from "./thread-port.ts";

/** What a thread answers to a call. */
export type ThreadAnswer<Value> = { readonly value: Value } | { readonly error: ChorusErrorData };

/** A call took longer than it may, so its thread was ended. */
export class TookTooLong extends Error {}

/** The thread was ended, but not by this call: by another one, or because nobody needs it, or with the page that lent it. */
export class ThreadEnded extends Error {}

/** The thread can't be started. */
export class ThreadNotStarted extends ChorusError {
  constructor(message: string) {
    super("internal_error", message);
  }
}

/** The thread failed in the midst of a call: its memory is full, for one. */
export class ThreadFailed extends ChorusError {
  constructor(message: string) {
    super("internal_error", message);
  }
}

interface Asked<Value> {
  readonly limitMs: number;
  readonly resolve: (value: Value) => void;
  readonly reject: (error: Error) => void;
}

/** A thread that answers one call after the other, and is ended when one of them takes too long. */
export class LimitedThread<Call, Value> {
  readonly #port: ThreadPort<Call, ThreadAnswer<Value>>;
  /** In the order in which they were asked. The thread is at the first. */
  readonly #asked: Asked<Value>[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #hasAnswered = false;
  #isEnded = false;
  #laterError: Error = new ThreadEnded();

  /** @param what it is for, as the beginning of an error's sentence */
  constructor(port: ThreadPort<Call, ThreadAnswer<Value>>, what: string) {
    this.#port = port;
    port.listen(
      (answer) => this.#take(answer),
      (reason) => {
        const message = `${what} failed: ${reason}.`;
        if (this.#hasAnswered) return this.#end(new ThreadFailed(message));
        // One that never worked is no better the next time.
        this.end(new ThreadNotStarted(message));
      },
      () => this.end(),
    );
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /**
   * @param limitMs how long the call may take, from when the one before it is answered
   * @throws TookTooLong, ThreadEnded, ThreadNotStarted, ThreadFailed; ChorusError as the thread answers; a DOMException for what can't be posted
   */
  ask(call: Call, limitMs: number): Promise<Value> {
    return new Promise((resolve, reject) => {
      if (this.#isEnded) throw this.#laterError;
      this.#port.post(call);
      this.#asked.push({ limitMs, resolve, reject });
      if (this.#asked.length === 1) this.#limitFirst();
    });
  }

  /** @param reason the error that later calls get */
  end(reason: Error = new ThreadEnded()): void {
    this.#laterError = reason;
    this.#end(reason);
  }

  #limitFirst(): void {
    const [first] = this.#asked;
    if (first) this.#timer = setTimeout(() => this.#end(new TookTooLong()), first.limitMs);
  }

  #take(answer: ThreadAnswer<Value>): void {
    this.#hasAnswered = true;
    clearTimeout(this.#timer);
    const first = this.#asked.shift();
    this.#limitFirst();
    if ("error" in answer) first?.reject(fromErrorData(answer.error));
    else first?.resolve(answer.value);
  }

  /** @param reason the error of the call that the thread is at */
  #end(reason: Error): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    clearTimeout(this.#timer);
    this.#port.end();
    const [first, ...others] = this.#asked.splice(0);
    first?.reject(reason);
    for (const { reject } of others) reject(this.#laterError);
  }
}
