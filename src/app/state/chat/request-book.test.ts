import { expect, it } from "vitest";
import type { RequestReport, StepReport } from "../../../protocol/reports.ts";
import { sampleEntry, sampleRequest, sampleStep } from "../../../../tests/requests/sample-reports.ts";
import { RequestBook } from "./request-book.ts";

const step = (atMs: number, requestId: string): StepReport => sampleStep({ atMs, entries: [sampleEntry(requestId)] });

const request = (status: RequestReport["status"], outputTokens: number): RequestReport =>
  sampleRequest("a", { status, outputTokens, arrivalMs: 100, firstTokenMs: status === "queued" ? null : 140 });

const NOT_WAITING = { queuePlace: null, queueWaitS: null, promptTokens: null, cachedTokens: null, retry: null };

it("counts the speed from the first token and the wait from the arrival", () => {
  const book = new RequestBook();
  book.addRequest(request("queued", 0));
  book.addStep(step(140, "a"));
  expect(book.figuresOf("a")).toEqual({ tokensPerSecond: null, ttftMs: 40, outputTokens: 1, ...NOT_WAITING });
  book.addStep(step(150, "b"));
  book.addStep(step(160, "a"));
  book.addStep(step(180, "a"));
  expect(book.figuresOf("a")).toEqual({ tokensPerSecond: 50, ttftMs: 40, outputTokens: 3, ...NOT_WAITING });
});

it("takes nothing more from a step that was under way when the request ended", () => {
  const book = new RequestBook();
  book.addStep(step(140, "a"));
  book.addStep(step(150, "a"));
  book.addRequest(request("finished", 2));
  book.addStep(step(200, "a"));
  expect(book.figuresOf("a")).toMatchObject({ tokensPerSecond: 100, outputTokens: 2, queuePlace: null });
});

it("counts the first of several answers that grow side by side", () => {
  const book = new RequestBook();
  const both = (atMs: number) => sampleStep({ atMs, entries: [sampleEntry("a"), { ...sampleEntry("a"), index: 1 }] });
  book.addStep(both(140));
  book.addStep(both(150));
  book.addRequest({ ...request("finished", 9), index: 1 });
  book.addStep(both(160));
  expect(book.figuresOf("a")).toMatchObject({ tokensPerSecond: 100, outputTokens: 3 });
});

it("says how long the wait may be as soon as an answer has been measured", () => {
  const book = new RequestBook();
  const waiting = sampleStep({ entries: [sampleEntry("a"), sampleEntry("b")], waitingIds: ["c", "d"] });
  book.addStep(waiting);
  book.addRequest(sampleRequest("d", { status: "queued" }));
  expect(book.figuresOf("d")).toMatchObject({ queuePlace: 2, queueWaitS: null });
  const ended = { status: "finished", scheduledMs: 1000, finishedMs: 7000, finishReason: "stop" } as const;
  book.addRequest(sampleRequest("z", ended));
  // Who stops it says nothing of how long an answer takes.
  book.addRequest(sampleRequest("y", { ...ended, finishedMs: 1001, finishReason: "abort" }));
  book.addStep(waiting);
  // Two run, six seconds each: one ends every three.
  expect(book.figuresOf("d")).toMatchObject({ queuePlace: 2, queueWaitS: 6 });
});

it("forgets the oldest requests", () => {
  const book = new RequestBook();
  for (let index = 0; index <= 256; index++) book.addStep(step(0, `r${index}`));
  expect(book.figuresOf("r0")).toBeNull();
  expect(book.figuresOf("r1")).not.toBeNull();
});

it("knows from the first token on how much of the prompt the cache had", () => {
  const book = new RequestBook();
  book.addRequest(sampleRequest("a", { status: "queued", promptTokens: 40 }));
  expect(book.figuresOf("a")).toMatchObject({ promptTokens: null, cachedTokens: null });
  book.addRequest(sampleRequest("a", { status: "first-token", firstTokenMs: 20, promptTokens: 40, cachedTokens: 32 }));
  expect(book.figuresOf("a")).toMatchObject({ promptTokens: 40, cachedTokens: 32 });
});

it("says why a server is asked again, until its answer begins", () => {
  const book = new RequestBook(() => 0);
  book.sent("a");
  expect(book.figuresOf("a")?.retry).toBeNull();
  book.retrying("a", "busy (2 of 6)");
  expect(book.figuresOf("a")?.retry).toBe("busy (2 of 6)");
  book.received("a", 1);
  expect(book.figuresOf("a")?.retry).toBeNull();
});
