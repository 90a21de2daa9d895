import { ChorusError, fromErrorData, type ChorusErrorData } from "../protocol/errors.ts";
import type { ThreadPort } from "./thread-port.ts";

/** What a thread answers to a call. */
export type ThreadAnswer<Value> = { readonly value: Value } | { readonly error: ChorusErrorData };

/** A call took longer than it may, so its thread was ended. */
export class TookTooLong extends Error {}

/** The thread was ended before the call's turn came: by another call, or because it is no longer needed. */
export class ThreadEnded extends Error {}

/** A thread that is ended when one of its calls takes too long. It gets one call at a time. */
export class LimitedThread<Call, Value> {
  readonly #port: ThreadPort<Call, ThreadAnswer<Value>>;
  #turn: Promise<unknown> = Promise.resolve();
  #onAnswer: (answer: ThreadAnswer<Value>) => void = () => undefined;
  #onFailure: (error: Error) => void = () => undefined;
  #hasAnswered = false;
  #isEnded = false;
  #laterError: Error = new ThreadEnded();

  /** @param what it is for, as the beginning of an error's sentence */
  constructor(port: ThreadPort<Call, ThreadAnswer<Value>>, what: string) {
    this.#port = port;
    port.listen(
      (answer) => {
        this.#hasAnswered = true;
        this.#onAnswer(answer);
      },
      (reason) => {
        const error = new ChorusError("internal_error", `${what} failed: ${reason}.`);
        // One that never worked is no better the next time.
        if (!this.#hasAnswered) this.#laterError = error;
        this.#end(error);
      },
    );
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** @throws TookTooLong, ThreadEnded; ChorusError as the thread answers */
  ask(call: Call, limitMs: number): Promise<Value> {
    const answer = this.#turn.then(() => this.#askNow(call, limitMs));
    this.#turn = answer.catch(() => undefined);
    return answer;
  }

  /** @param reason the error that later calls get */
  end(reason: Error = new ThreadEnded()): void {
    this.#laterError = reason;
    this.#end(reason);
  }

  async #askNow(call: Call, limitMs: number): Promise<Value> {
    if (this.#isEnded) throw this.#laterError;
    const timer = setTimeout(() => this.#end(new TookTooLong()), limitMs);
    try {
      const answer = await new Promise<ThreadAnswer<Value>>((resolve, reject) => {
        this.#onAnswer = resolve;
        this.#onFailure = reject;
        this.#port.post(call);
      });
      if ("error" in answer) throw fromErrorData(answer.error);
      return answer.value;
    } finally {
      clearTimeout(timer);
    }
  }

  #end(reason: Error): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#port.end();
    this.#onFailure(reason);
  }
}
