import { fromErrorData } from "../protocol/errors.ts";
import type { Chunk, RequestEvent, Response } from "../protocol/service.ts";
import { textChunk } from "../protocol/text-chunk.ts";

/** Events as readers get them: texts are chunks. */
type ReadEvent = Exclude<RequestEvent, { type: "text" }>;
type Waiter = { resolve: (event: ReadEvent) => void; reject: (error: unknown) => void };

/** The events of one request, in order, for one reader. It can be closed with an error. */
export class RequestEvents {
  readonly #events: ReadEvent[] = [];
  /** The newest complete chunk. */
  #chunk: Chunk | null = null;
  #waiter: Waiter | null = null;
  #failure: { error: unknown } | null = null;

  push(given: RequestEvent): void {
    const event = this.#whole(given);
    if (event.type === "chunk") this.#chunk = event.chunk;
    if (this.#waiter) this.#waiter.resolve(event);
    else this.#events.push(event);
    this.#waiter = null;
  }

  /** Drops unread events. The waiting reader, and every later read, gets the error. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#events.length = 0;
    this.#waiter?.reject(this.#failure.error);
    this.#waiter = null;
  }

  async peek(): Promise<ReadEvent> {
    const event = await this.next();
    this.#events.unshift(event);
    return event;
  }

  next(): Promise<ReadEvent> {
    if (this.#failure) return Promise.reject(this.#failure.error);
    const event = this.#events.shift();
    if (event) return Promise.resolve(event);
    return new Promise((resolve, reject) => (this.#waiter = { resolve, reject }));
  }

  #whole(event: RequestEvent): ReadEvent {
    if (event.type !== "text") return event;
    if (this.#chunk === null) throw new Error("An answer began with a text: its first event is a whole chunk.");
    return { type: "chunk", ticket: event.ticket, chunk: textChunk(this.#chunk, event.choice, event.text) };
  }
}

/** Resolves with the response of a request that is not streamed. */
export async function responseOf(events: RequestEvents): Promise<Response> {
  for (;;) {
    const event = await events.next();
    if (event.type === "response") return event.response;
    if (event.type === "error") throw fromErrorData(event.error);
  }
}

const ENDED = { done: true, value: undefined } as const;

/**
 * The chunks of a streamed request. Calls of next() queue, as an async generator's do. Calls `onLeave` after the last chunk,
 * or when the reader leaves early.
 */
export class ChunkStream implements AsyncIterableIterator<Chunk, undefined> {
  readonly #events: RequestEvents;
  readonly #onLeave: () => void;
  #done = false;
  /** Resolves when every call so far has settled. */
  #settled: Promise<unknown> = Promise.resolve();

  constructor(events: RequestEvents, onLeave: () => void) {
    this.#events = events;
    this.#onLeave = onLeave;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Chunk, undefined>> {
    const read = this.#settled.then(() => this.#read());
    this.#settled = read.catch(() => undefined);
    return read;
  }

  // A generator would not run its `finally` if no first chunk was requested, and would wait for a pending next().
  return(): Promise<IteratorResult<Chunk, undefined>> {
    this.#leave();
    return Promise.resolve(ENDED);
  }

  async #read(): Promise<IteratorResult<Chunk, undefined>> {
    if (this.#done) return ENDED;
    try {
      const event = await this.#events.next();
      if (event.type === "chunk") return { done: false, value: event.chunk };
      if (event.type === "error") throw fromErrorData(event.error);
    } catch (error) {
      if (!this.#done) {
        this.#leave();
        throw error;
      }
    }
    this.#leave();
    return ENDED;
  }

  #leave(): void {
    if (this.#done) return;
    this.#done = true;
    this.#onLeave();
    this.#events.fail(new Error("The reader has left.")); // settles a next() that waits
  }
}
