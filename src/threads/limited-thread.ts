import { ChorusError, fromErrorData } from "../protocol/errors.ts";
import { ALIVE, unreadable, type NumberedCall, type ThreadAnswer, type ThreadPort } from "./thread-port.ts";

/** Most time until a thread starts: its page may be busy, or show a dialog. No call is to blame. */
export const LONGEST_START_MS = 180_000;

/** A call took longer than allowed, so its thread was ended. */
export class TookTooLong extends Error {}

/** The thread ended before this call: because of another call, or unused, or with the page that started it. */
export class ThreadEnded extends Error {}

class ThreadError extends ChorusError {
  constructor(message: string) {
    super("internal_error", message);
  }
}

export class ThreadNotStarted extends ThreadError {}

/** The thread failed during a call, for example because its memory is full. */
export class ThreadFailed extends ThreadError {}

type ThreadMessage<Value> = ThreadAnswer<Value> | typeof ALIVE;
export type LimitedPort<Call, Value> = ThreadPort<NumberedCall<Call>, ThreadMessage<Value>>;

interface PendingCall<Value> {
  readonly limitMs: number;
  readonly patienceMs: number;
  readonly resolve: (value: Value) => void;
  readonly reject: (error: Error) => void;
}

/**
 * A thread that answers one call after the other, and is ended when one of them takes too long. If the patience of calls
 * behind a slow one ends before, the thread is left to the slow call: it takes no others, and ends with it. Each answer has
 * its call's number: no call gets another's, whatever happens to messages.
 */
export class LimitedThread<Call, Value> {
  readonly #port: LimitedPort<Call, Value>;
  readonly #what: string;
  readonly #mayLeave: () => boolean;
  /** Calls by their numbers, in order. The thread is at the first. */
  readonly #pending = new Map<number, PendingCall<Value>>();
  #numPosted = 0;
  #timers: ReturnType<typeof setTimeout>[] = [];
  /** Whether the first call takes longer than those behind it would wait. */
  #isSlow = false;
  #isLeft = false;
  /** Whether it has sent any message. */
  #isThere = false;
  #hasAnswered = false;
  #isEnded = false;
  #laterError: Error = new ThreadEnded();

  /**
   * @param what its purpose, as the beginning of an error's sentence
   * @param mayLeave whether the thread may be left to a slow call: another one then takes its place
   */
  constructor(port: LimitedPort<Call, Value>, what: string, mayLeave = () => false) {
    this.#port = port;
    this.#what = what;
    this.#mayLeave = mayLeave;
    port.listen(
      (message) => this.#receive(message),
      (reason) => {
        const message = `${what} failed: ${reason}.`;
        if (this.#hasAnswered) return this.#end(new ThreadFailed(message));
        // A thread that never worked won't work the next time.
        this.end(new ThreadNotStarted(message));
      },
      () => this.end(),
    );
  }

  /** Whether it takes no more calls. */
  get isEnded(): boolean {
    return this.#isEnded || this.#isLeft;
  }

  /** Whether it is left to a slow call that it still computes. */
  get isLeft(): boolean {
    return this.#isLeft && !this.#isEnded;
  }

  /**
   * @param limitMs most time of the call, from when the one before it is answered and the thread has started
   * @param patienceMs most time that calls behind this one wait for it
   * @throws TookTooLong, ThreadEnded, ThreadNotStarted, ThreadFailed; ChorusError as the thread answers; a DOMException for
   * a call that can't be posted
   */
  ask(call: Call, limitMs: number, patienceMs = Infinity): Promise<Value> {
    return new Promise((resolve, reject) => {
      if (this.#isSlow && this.#mayLeave()) this.#leave();
      if (this.#isLeft) throw new ThreadEnded();
      if (this.#isEnded) throw this.#laterError;
      this.#port.post({ id: this.#numPosted + 1, call });
      this.#pending.set(++this.#numPosted, { limitMs, patienceMs, resolve, reject });
      if (this.#pending.size === 1) this.#limitFirst();
    });
  }

  /** @param reason the error that later calls get */
  end(reason: Error = new ThreadEnded()): void {
    this.#laterError = reason;
    this.#end(reason);
  }

  #limitFirst(): void {
    const [first] = this.#pending.values();
    if (first === undefined) return;
    if (!this.#isThere) {
      const message = `${this.#what} has not started within ${LONGEST_START_MS / 1000} s: what starts it is busy, or can't load it.`;
      this.#after(LONGEST_START_MS, () => this.end(new ThreadNotStarted(message)));
      return;
    }
    this.#after(first.limitMs, () => this.#end(new TookTooLong()));
    if (first.patienceMs >= first.limitMs) return;
    this.#after(first.patienceMs, () => {
      this.#isSlow = true;
      if (this.#pending.size > 1 && this.#mayLeave()) this.#leave();
    });
  }

  /** Acts after `ms`, by two timers: if this thread was busy meanwhile, it reads a waiting answer between them. */
  #after(ms: number, act: () => void): void {
    this.#timers.push(setTimeout(() => this.#timers.push(setTimeout(act, 0)), ms));
  }

  #stopTimers(): void {
    for (const timer of this.#timers.splice(0)) clearTimeout(timer);
  }

  #leave(): void {
    this.#isLeft = true;
    for (const [id, { reject }] of [...this.#pending].slice(1)) {
      this.#pending.delete(id);
      reject(new ThreadEnded());
    }
  }

  #receive(message: ThreadMessage<Value> | null): void {
    if (!this.#isThere) {
      this.#isThere = true;
      this.#stopTimers();
      this.#limitFirst();
    }
    if (message === ALIVE) return;
    const [firstId] = this.#pending.keys();
    // Answers come in order: an unreadable one belongs to the first call.
    if (message === null) this.#take(firstId, ({ reject }) => reject(unreadable(this.#what)));
    else if ("error" in message) this.#take(message.id, ({ reject }) => reject(fromErrorData(message.error)));
    else this.#take(message.id, ({ resolve }) => resolve(message.value));
  }

  #take(id: number | undefined, settle: (pending: PendingCall<Value>) => void): void {
    this.#hasAnswered = true;
    const pending = id !== undefined && this.#pending.get(id);
    if (!pending) return; // it has been answered already
    const [firstId] = this.#pending.keys();
    this.#pending.delete(id);
    if (id === firstId) {
      this.#isSlow = false;
      this.#stopTimers();
      if (this.#isLeft) this.end();
      else this.#limitFirst();
    }
    settle(pending);
  }

  /** @param reason the error of the call that the thread is at */
  #end(reason: Error): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#stopTimers();
    this.#port.end();
    const [first, ...others] = this.#pending.values();
    this.#pending.clear();
    first?.reject(reason);
    for (const { reject } of others) reject(this.#laterError);
  }
}
