import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { openPanes } from "../../../../tests/app/open-panes.ts";
import { meterContext } from "./context-meter.ts";
import type { Turn } from "./conversation.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const turn = (id: number): Turn => ({ id, question: "one two three", answer: "four five", end: "stop" });

async function openMeter(numTurns: number, contextLength = 40) {
  const { control, first, openPane } = openPanes({ model: { contextLength } });
  const tokenize = vi.spyOn(first, "tokenize");
  await control.start();
  const turns = Array.from({ length: numTurns }, (_, id) => turn(id));
  const pane = openPane(1, { title: null, settings: {}, turns, contextStart: 0, draft: "" });
  const stop = meterContext(pane);
  const pause = () => vi.advanceTimersByTimeAsync(300);
  const settle = () => vi.advanceTimersByTimeAsync(0);
  await settle();
  return { pane, engine: first, stop, pause, settle, tokenize, use: () => pane.contextUse.getState() };
}

it("counts the draft and what is sent with it, once for a pause in typing", async () => {
  const { pane, pause, tokenize, use } = await openMeter(2);
  expect(use()).toEqual({ draftTokens: 0, promptTokens: 10, contextTokens: 40, contextStart: 0 });
  tokenize.mockClear();
  for (const draft of ["six", "six sev", "six seven"]) {
    pane.setDraft(draft);
    await vi.advanceTimersByTimeAsync(50);
  }
  expect(tokenize).not.toHaveBeenCalled();
  await pause();
  expect(use()).toMatchObject({ draftTokens: 2, promptTokens: 12 });
  // The turns have not changed.
  expect(tokenize).toHaveBeenCalledTimes(1);
});

it("counts at once what nobody types: a pane that was opened, and a chat whose answer has ended", async () => {
  const { pane, engine, settle, use } = await openMeter(0);
  expect(use()).toMatchObject({ promptTokens: 0 });
  pane.setDraft("one two three");
  pane.sendDraft();
  await settle();
  engine.step();
  await settle();
  expect(use()).toMatchObject({ draftTokens: 0, promptTokens: 4 });
});

it("says which turns will not be sent before the question is sent", async () => {
  // 20 of 40 tokens are kept for the answer.
  const { pane, pause, use } = await openMeter(4);
  expect(use()).toMatchObject({ promptTokens: 20, contextStart: 0 });
  pane.setDraft("six seven");
  await pause();
  expect(use()).toMatchObject({ draftTokens: 2, promptTokens: 17, contextStart: 1 });
  pane.set("max_tokens", 30);
  await pause();
  expect(use()).toMatchObject({ draftTokens: 2, promptTokens: 17, contextStart: 1 });
  // A chat is not forgotten for an answer that may be long: at most half of the context is kept for it.
  pane.set("max_tokens", 100_000);
  await pause();
  expect(use()).toMatchObject({ promptTokens: 17, contextStart: 1 });
  pane.set("max_tokens", 5);
  await pause();
  expect(use()).toMatchObject({ promptTokens: 22, contextStart: 0 });
  pane.set("continue_text", true);
  await pause();
  expect(use()).toMatchObject({ promptTokens: 2, contextStart: 4 });
});

it("while an answer grows, counts the draft alone; where a server answers, nothing", async () => {
  const { pane, pause, use, stop } = await openMeter(1);
  pane.send("Go on.");
  pane.setDraft("and then");
  await pause();
  expect(use()).toMatchObject({ draftTokens: 2, promptTokens: null });
  pane.stop();
  pane.answerBy({ baseUrl: "https://host.example/v1", model: "m" });
  await pause();
  expect(use()).toBeNull();
  stop();
  pane.answerBy(null);
  await pause();
  expect(use()).toBeNull();
});
