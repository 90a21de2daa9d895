import { afterEach, expect, test, vi } from "vitest";

import { LentWorkers } from "./lend-threads.ts";

afterEach(() => vi.unstubAllGlobals());

test("what is asked for after the end is not started", () => {
  const terminate = vi.fn<() => void>();
  const start = vi.fn<() => object>(() => ({
    postMessage: () => undefined,
    addEventListener: () => undefined,
    terminate,
  }));
  vi.stubGlobal("Worker", function () {
    return start();
  });
  const lent = new LentWorkers(null);
  const { port1, port2 } = new MessageChannel();
  void lent.start(1, "texts", port1);
  expect(start).toHaveBeenCalledOnce();
  lent.endAll();
  expect(terminate).toHaveBeenCalledOnce();
  void lent.start(2, "helpers", port2);
  expect(start).toHaveBeenCalledOnce();
  port1.close();
});
