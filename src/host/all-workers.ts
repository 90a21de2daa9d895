// Each worker of the library, in one script: for pages whose bundler leaves the workers' files behind. Its address ends with
// the name of the one that it is to be.

const WORKERS: Record<string, () => Promise<unknown>> = {
  "#engine.worker": () => import("./engine.worker.ts"),
  "#models.worker": () => import("./models.worker.ts"),
  "#text.worker": () => import("./text/text.worker.ts"),
  "#grammar.worker": () => import("../grammar/grammar.worker.ts"),
  "#helper.worker": () => import("../backends/cpu/threads/helper.worker.ts"),
};

void WORKERS[self.location.hash]?.();
