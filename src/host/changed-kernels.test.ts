// Kernels are asked once more for known answers after some thousands of steps.

import { afterEach, expect, test, vi } from "vitest";

import { openFakeModel } from "../../tests/fakes/fake-model.ts";

afterEach(() => void vi.restoreAllMocks());

test("after 2,048 steps, once: the card and the log say that their answers have changed", async () => {
  const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
  const { engine, backend } = await openFakeModel({ logLevel: "warn" });
  const onRecheck = vi.spyOn(backend, "onRecheck").mockReturnValue(["matmul-lane {}: other answers"]);
  const reports: unknown[] = [];
  engine.on("device", ({ status, loss: { code } }) => reports.push([status, code]));
  const step = (max_tokens: number) => engine.completions.create({ prompt: [1], max_tokens, ignore_eos: true });
  for (let i = 0; i < 8; i++) await step(250);
  expect(onRecheck).not.toHaveBeenCalled();
  expect(engine.model.notice).toBeNull();
  await step(250);
  expect(onRecheck).toHaveBeenCalledOnce();
  expect(reports).toEqual([["changed", "wrong_answers"]]);
  expect(engine.model.notice).toContain("other answers with 1 of its kernels");
  expect(warn.mock.calls.flat().join("\n")).toContain("a kernel is not used: matmul-lane");
  await engine.dispose();
});
