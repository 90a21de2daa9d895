import { beforeEach, expect, test, vi } from "vitest";

import type { ChorusEngine } from "../../../protocol/engine.ts";
import { watchFirstLoad } from "./after-first-load.ts";

beforeEach(() => {
  vi.useFakeTimers();
  return () => void vi.useRealTimers();
});

/** Follows a page whose engine is created by the returned function. */
function opened(create: () => Promise<ChorusEngine>) {
  const { createEngine, afterFirstLoad } = watchFirstLoad(create);
  const settled = vi.fn<() => void>();
  void afterFirstLoad.then(settled);
  return { createEngine: () => createEngine({ model: "/models/one/" }), settled };
}

test.each([
  ["is there", () => Promise.resolve({} as ChorusEngine)],
  ["has failed", () => Promise.reject(new Error("no memory"))],
])("a page is settled two seconds after its first engine %s", async (_, create) => {
  const { createEngine, settled } = opened(create);
  await vi.advanceTimersByTimeAsync(5000);
  createEngine().catch(() => undefined);
  await vi.advanceTimersByTimeAsync(1999);
  expect(settled).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(settled).toHaveBeenCalledOnce();
});

test("a page whose model takes minutes, or that loads none, is settled after twelve seconds", async () => {
  const { createEngine, settled } = opened(() => new Promise(() => undefined));
  void createEngine();
  await vi.advanceTimersByTimeAsync(11_999);
  expect(settled).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(settled).toHaveBeenCalledOnce();
});
