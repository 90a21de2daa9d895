import { toErrorData } from "../protocol/errors.ts";
import { ALIVE, unreadable, type NumberedCall } from "./thread-port.ts";

/**
 * Answers the calls of this thread's opener, in a browser, or in Node, where a module has no `self`. A browser's thread that
 * is given a port answers there instead: its caller is not the page that started it.
 */
export function serveThread(answer: (call: never) => unknown): void {
  if (typeof self === "undefined" || !("importScripts" in self || "DedicatedWorkerGlobalScope" in self)) {
    // Not imported: bundlers for browsers could not resolve it.
    const { parentPort } = process.getBuiltinModule("node:worker_threads");
    const take = answerCalls(answer, (message) => parentPort?.postMessage(message));
    parentPort?.on("message", take);
    parentPort?.on("messageerror", () => take(null));
    parentPort?.postMessage(ALIVE);
    return;
  }
  self.addEventListener("message", ({ ports: [port] }: MessageEvent<unknown>) => {
    if (port === undefined) return;
    const take = answerCalls(answer, (message) => port.postMessage(message));
    port.addEventListener("message", ({ data }: MessageEvent<NumberedCall<never> | null>) => take(data));
    port.addEventListener("messageerror", () => take(null));
    port.start();
    port.postMessage(ALIVE);
  });
}

/**
 * Returns a function that takes a port's calls; null for an unreadable one. Answers them one after the other, in order and
 * under their numbers. A call that throws, or whose answer can't be posted, is answered with the error.
 */
export function answerCalls<Call>(
  answer: (call: Call) => unknown,
  post: (message: unknown) => void,
): (message: NumberedCall<Call> | null) => void {
  let lastId = 0;
  let turn: Promise<void> = Promise.resolve();
  const answerNow = async (message: NumberedCall<Call> | null): Promise<void> => {
    const id = message?.id ?? lastId + 1;
    if (id <= lastId) return; // it was a repeated message
    lastId = id;
    const refuse = (error: unknown) => post({ id, error: toErrorData(error) });
    if (message === null) return refuse(unreadable("A call"));
    try {
      post({ id, value: await answer(message.call) });
    } catch (error) {
      refuse(error);
    }
  };
  // If not even the error can be posted, the call is left to its time limit.
  return (message) => void (turn = turn.then(() => answerNow(message)).catch(() => undefined));
}
