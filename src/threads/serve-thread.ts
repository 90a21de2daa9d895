import { ALIVE } from "./thread-port.ts";

/**
 * Answers the calls of whoever opened this thread: of a browser, or of Node, where a module has no `self`. A browser's thread
 * that is handed a port answers there instead: whoever calls it is not the page that started it.
 */
export function serveThread(answer: (call: never) => unknown): void {
  const serve = async (call: unknown, post: (answer: unknown) => void): Promise<void> =>
    post(await answer(call as never));
  if (typeof self === "undefined" || !("importScripts" in self || "DedicatedWorkerGlobalScope" in self)) {
    // Not imported: bundlers for browsers would have to find it.
    const { parentPort } = process.getBuiltinModule("node:worker_threads");
    parentPort?.on("message", (call: unknown) => void serve(call, (message) => parentPort.postMessage(message)));
    parentPort?.postMessage(ALIVE);
    return;
  }
  self.addEventListener("message", ({ data, ports: [port] }: MessageEvent<unknown>) => {
    if (port === undefined) return void serve(data, (message) => self.postMessage(message));
    port.addEventListener("message", (event: MessageEvent<unknown>) => {
      void serve(event.data, (message) => port.postMessage(message));
    });
    port.start();
    port.postMessage(ALIVE);
  });
}
