import { ChorusError, fromErrorData } from "../protocol/errors.ts";
import { ALIVE, unreadable, type NumberedCall, type ThreadAnswer, type ThreadPort } from "./thread-port.ts";

/** Until a thread is there: its page may be busy, or show a dialog. No call is to blame. */
export const LONGEST_START_MS = 180_000;

/** A call took longer than it may, so its thread was ended. */
export class TookTooLong extends Error {}

/** The thread takes this call no more: for another one's sake, or since nobody needs it, or with the page that lent it. */
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

type ThreadMessage<Value> = ThreadAnswer<Value> | typeof ALIVE;
export type LimitedPort<Call, Value> = ThreadPort<NumberedCall<Call>, ThreadMessage<Value>>;

interface Asked<Value> {
  readonly limitMs: number;
  readonly patienceMs: number;
  readonly resolve: (value: Value) => void;
  readonly reject: (error: Error) => void;
}

/**
 * A thread that answers one call after the other, and is ended when one of them takes too long. If those behind a slow call
 * lose their patience before, the thread is left to that call: it takes no others, and is ended with it. Each answer names
 * its call by number: no call gets another's, whatever happens to messages.
 */
export class LimitedThread<Call, Value> {
  readonly #port: LimitedPort<Call, Value>;
  readonly #what: string;
  readonly #mayLeave: () => boolean;
  /** By their numbers, in the order in which they were asked. The thread is at the first. */
  readonly #requested = new Map<number, Asked<Value>>();
  #numPosted = 0;
  #timers: ReturnType<typeof setTimeout>[] = [];
  /** Whether the first call takes longer than those behind it would wait. */
  #isSlow = false;
  #isLeft = false;
  /** Whether it has said anything. */
  #isThere = false;
  #hasAnswered = false;
  #isEnded = false;
  #laterError: Error = new ThreadEnded();

  /**
   * @param what it is for, as the beginning of an error's sentence
   * @param mayLeave whether the thread may be left to a slow call: another one then takes its place
   */
  constructor(port: LimitedPort<Call, Value>, what: string, mayLeave = () => false) {
    this.#port = port;
    this.#what = what;
    this.#mayLeave = mayLeave;
    port.listen(
      (message) => this.#hear(message),
      (reason) => {
        const message = `${what} failed: ${reason}.`;
        if (this.#hasAnswered) return this.#end(new ThreadFailed(message));
        // One that never worked is no better the next time.
        this.end(new ThreadNotStarted(message));
      },
      () => this.end(),
    );
  }

  /** Whether it takes calls no more. */
  get isEnded(): boolean {
    return this.#isEnded || this.#isLeft;
  }

  /** Whether it was left to a call that it is still at. */
  get isLeft(): boolean {
    return this.#isLeft && !this.#isEnded;
  }

  /**
   * @param limitMs how long the call may take, from when the one before it is answered and the thread is there
   * @param patienceMs how long calls behind this one wait for it
   * @throws TookTooLong, ThreadEnded, ThreadNotStarted, ThreadFailed; ChorusError as the thread answers; a DOMException for
   * what can't be posted
   */
  ask(call: Call, limitMs: number, patienceMs = Infinity): Promise<Value> {
    return new Promise((resolve, reject) => {
      if (this.#isSlow && this.#mayLeave()) this.#leave();
      if (this.#isLeft) throw new ThreadEnded();
      if (this.#isEnded) throw this.#laterError;
      this.#port.post({ id: this.#numPosted + 1, call });
      this.#requested.set(++this.#numPosted, { limitMs, patienceMs, resolve, reject });
      if (this.#requested.size === 1) this.#limitFirst();
    });
  }

  /** @param reason the error that later calls get */
  end(reason: Error = new ThreadEnded()): void {
    this.#laterError = reason;
    this.#end(reason);
  }

  #limitFirst(): void {
    const [first] = this.#requested.values();
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
      if (this.#requested.size > 1 && this.#mayLeave()) this.#leave();
    });
  }

  /** Twice: if this thread was busy when the time came, an answer may be there, unread. It is read between the two. */
  #after(ms: number, act: () => void): void {
    this.#timers.push(setTimeout(() => this.#timers.push(setTimeout(act, 0)), ms));
  }

  #stopTimers(): void {
    for (const timer of this.#timers.splice(0)) clearTimeout(timer);
  }

  #leave(): void {
    this.#isLeft = true;
    for (const [id, { reject }] of [...this.#requested].slice(1)) {
      this.#requested.delete(id);
      reject(new ThreadEnded());
    }
  }

  #hear(message: ThreadMessage<Value> | null): void {
    if (!this.#isThere) {
      this.#isThere = true;
      this.#stopTimers();
      this.#limitFirst();
    }
    if (message === ALIVE) return;
    const [firstId] = this.#requested.keys();
    // Answers come in order: what can't be read is the first call's.
    if (message === null) this.#take(firstId, ({ reject }) => reject(unreadable(this.#what)));
    else if ("error" in message) this.#take(message.id, ({ reject }) => reject(fromErrorData(message.error)));
    else this.#take(message.id, ({ resolve }) => resolve(message.value));
  }

  #take(id: number | undefined, settle: (requested: Asked<Value>) => void): void {
    this.#hasAnswered = true;
    const requested = id !== undefined && this.#requested.get(id);
    if (!requested) return; // its answer came before
    const [firstId] = this.#requested.keys();
    this.#requested.delete(id);
    if (id === firstId) {
      this.#isSlow = false;
      this.#stopTimers();
      if (this.#isLeft) this.end();
      else this.#limitFirst();
    }
    settle(requested);
  }

  /** @param reason the error of the call that the thread is at */
  #end(reason: Error): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#stopTimers();
    this.#port.end();
    const [first, ...others] = this.#requested.values();
    this.#requested.clear();
    first?.reject(reason);
    for (const { reject } of others) reject(this.#laterError);
  }
}
