// A thread of a browser or of Node, as what talks to it sees it: plain data in, plain data out.

import { ChorusError, type ChorusErrorData } from "../protocol/errors.ts";

/** What a thread says first, before any answer: it is there. */
export const ALIVE = "alive";

/** A call as it is posted. A port numbers its calls from 1. */
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
  /** @throws DOMException for what can't be posted */
  post(call: Call): void;
  /**
   * @param onAnswer gets null for a message that can't be read
   * @param onClosed called when the thread has ended for a reason that is none of its calls': another one can take its place
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

/** One of node:worker_threads. It doesn't keep the process alive. */
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
