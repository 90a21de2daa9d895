import { expect, it } from "vitest";
import type { RequestReport, StepReport } from "../protocol/reports.ts";
import { RequestBook } from "./request-book.ts";

const step = (atMs: number, requestId: string): StepReport => ({
  step: 1,
  atMs,
  stepMs: 5,
  cpuMs: 1,
  rows: 1,
  promptRows: 0,
  sampledTokens: 1,
  entries: [{ requestId, index: 0, start: 0, rows: 1, promptRows: 0, sampled: true, finishReason: null }],
  numRunning: 1,
  numWaiting: 0,
  kvBlocksUsed: 1,
  kvBlocksTotal: 8,
});

const request = (status: RequestReport["status"], outputTokens: number): RequestReport => ({
  requestId: "a",
  index: 0,
  status,
  promptTokens: 4,
  outputTokens,
  arrivalMs: 100,
  scheduledMs: 100,
  firstTokenMs: status === "queued" ? null : 140,
  finishedMs: null,
  finishReason: null,
});

it("counts the speed from the first token and the wait from the arrival", () => {
  const book = new RequestBook();
  book.addRequest(request("queued", 0));
  book.addStep(step(140, "a"));
  expect(book.figuresOf("a")).toEqual({ tokensPerSecond: null, ttftMs: 40, outputTokens: 1 });
  book.addStep(step(150, "b"));
  book.addStep(step(160, "a"));
  book.addStep(step(180, "a"));
  expect(book.figuresOf("a")).toEqual({ tokensPerSecond: 50, ttftMs: 40, outputTokens: 3 });
});

it("takes the number of tokens from the report of the end, also where that of the last step comes after it", () => {
  const book = new RequestBook();
  book.addStep(step(140, "a"));
  book.addRequest(request("finished", 7));
  book.addStep(step(150, "a"));
  expect(book.figuresOf("a")?.outputTokens).toBe(7);
});

it("forgets the oldest requests", () => {
  const book = new RequestBook();
  for (let index = 0; index <= 256; index++) book.addStep(step(0, `r${index}`));
  expect(book.figuresOf("r0")).toBeNull();
  expect(book.figuresOf("r1")).not.toBeNull();
});
