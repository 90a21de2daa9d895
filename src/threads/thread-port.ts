// A thread of a browser or of Node, as its caller sees it: plain data in, plain data out.

import { ChorusError, type ChorusErrorData } from "../protocol/errors.ts";

/** A thread's first message, before any answer. */
export const ALIVE = "alive";

/** A posted call. A port numbers its calls from 1. */
export interface NumberedCall<Call> {
  readonly id: number;
  readonly call: Call;
}

/** The answer to the call of that number. */
export type ThreadAnswer<Value> = { readonly id: number } & (
  | { readonly value: Value }
  | { readonly error: ChorusErrorData }
);

/** Returns the error of the call whose message, or whose answer, can't be read on the other side. */
export function unreadable(what: string): ChorusError {
  return new ChorusError("internal_error", `${what}: a message between threads could not be read.`);
}

export interface ThreadPort<Call, Answer> {
  /** @throws DOMException for a call that can't be posted */
  post(call: Call): void;
  /**
   * @param onAnswer gets null for a message that can't be read
   * @param onClosed called when the thread has ended, but not because of a call: another one can replace it
   */
  listen(onAnswer: (answer: Answer | null) => void, onFailure: (reason: string) => void, onClosed: () => void): void;
  /** Ends the thread, whatever it is computing. */
  end(): void;
}

interface NodeWorker<Answer> {
  on(type: "message", listener: (message: Answer) => void): unknown;
  on(type: "error" | "messageerror", listener: (error: Error) => void): unknown;
  postMessage(message: unknown): void;
  unref(): void;
  terminate(): unknown;
}

/** Returns the port of a worker of node:worker_threads. It doesn't keep the process alive. */
export function nodePort<Call, Answer>(worker: NodeWorker<Answer>): ThreadPort<Call, Answer> {
  worker.unref();
  return {
    post: (call) => worker.postMessage(call),
    listen(onAnswer, onFailure) {
      worker.on("message", onAnswer);
      worker.on("messageerror", () => onAnswer(null));
      worker.on("error", ({ message }) => onFailure(message));
    },
    end: () => void worker.terminate(),
  };
}
