// A thread of a browser or of Node, as what talks to it sees it: plain data in, plain data out.

/** What a thread says first, before any answer: it is there. */
export const ALIVE = "alive";

export interface ThreadPort<Call, Answer> {
  post(call: Call): void;
  /** @param onGone called when the thread has ended for a reason that is none of its calls': another one can take its place */
  listen(onAnswer: (answer: Answer) => void, onFailure: (reason: string) => void, onGone: () => void): void;
  /** Ends the thread, whatever it is computing. */
  end(): void;
}

interface NodeWorker<Answer> {
  on(type: "message", listener: (message: Answer) => void): unknown;
  on(type: "error", listener: (error: Error) => void): unknown;
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
      worker.on("error", ({ message }) => onFailure(message));
    },
    end: () => void worker.terminate(),
  };
}
