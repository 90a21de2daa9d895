import { ChorusError, fromErrorData } from "../protocol/errors.ts";
import type { GrammarAnswer, GrammarCall } from "./grammar-service.ts";

/** A way to a GrammarService, in a worker of its own. */
export interface GrammarPort {
  post(call: GrammarCall): void;
  listen(onAnswer: (answer: GrammarAnswer) => void, onFailure: (reason: string) => void): void;
  /** Ends the worker, whatever it is computing. */
  end(): void;
}

/** A call took longer than it may, so its thread was ended. */
export class TookTooLong extends Error {}

/** The thread was ended before the call's turn came: by another call, or because it is no longer needed. */
export class ThreadEnded extends Error {}

/** A thread of grammars that is ended when one of its calls takes too long. It gets one call at a time. */
export class GrammarThread {
  readonly #port: GrammarPort;
  #turn: Promise<unknown> = Promise.resolve();
  #onAnswer: (answer: GrammarAnswer) => void = () => undefined;
  #onFailure: (error: Error) => void = () => undefined;
  #hasAnswered = false;
  #isEnded = false;
  #laterError: Error = new ThreadEnded();

  constructor(port: GrammarPort) {
    this.#port = port;
    port.listen(
      (answer) => {
        this.#hasAnswered = true;
        this.#onAnswer(answer);
      },
      (reason) => {
        const error = new ChorusError("internal_error", `What holds answers to a grammar failed: ${reason}.`);
        // One that never worked is no better the next time.
        if (!this.#hasAnswered) this.#laterError = error;
        this.#end(error);
      },
    );
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** @throws TookTooLong, ThreadEnded; ChorusError as the service answers */
  ask(call: GrammarCall, limitMs: number): Promise<Uint32Array | null> {
    const answer = this.#turn.then(() => this.#askNow(call, limitMs));
    this.#turn = answer.catch(() => undefined);
    return answer;
  }

  /** @param reason what later calls are told */
  end(reason: Error = new ThreadEnded()): void {
    this.#laterError = reason;
    this.#end(reason);
  }

  async #askNow(call: GrammarCall, limitMs: number): Promise<Uint32Array | null> {
    if (this.#isEnded) throw this.#laterError;
    const timer = setTimeout(() => this.#end(new TookTooLong()), limitMs);
    try {
      const answer = await new Promise<GrammarAnswer>((resolve, reject) => {
        this.#onAnswer = resolve;
        this.#onFailure = reject;
        this.#port.post(call);
      });
      if ("error" in answer) throw fromErrorData(answer.error);
      return answer.mask;
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
