// Who listens for the times of kernels changes nothing but the steps that are timed.

import { afterEach, expect, test, vi } from "vitest";

import { openFakeModel } from "../testing/fakes/fake-model.ts";

afterEach(() => void vi.restoreAllMocks());

test("a device that refuses to time kernels answers on, and the log says so", async () => {
  const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
  const { engine, backend } = await openFakeModel({ logLevel: "warn" });
  backend.canTime = false;
  const timed: number[] = [];
  engine.on("kernels", ({ step }) => timed.push(step));
  const { choices } = await engine.completions.create({ prompt: [1, 2, 3], max_tokens: 12, ignore_eos: true });
  expect(choices[0]?.finish_reason).toBe("length");
  expect(timed).toEqual([]);
  expect(warn.mock.calls).toEqual([[expect.stringMatching(/^chorus: no kernel is timed: /)]]);
  await engine.dispose();
});
