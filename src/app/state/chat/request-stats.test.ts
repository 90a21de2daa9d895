import { expect, it } from "vitest";
import type { RequestReport, StepReport } from "../../../protocol/reports.ts";
import { sampleEntry, sampleRequest, sampleStep } from "../../../../tests/requests/sample-reports.ts";
import { RequestStats } from "./request-stats.ts";

const step = (atMs: number, requestId: string): StepReport => sampleStep({ atMs, entries: [sampleEntry(requestId)] });

const request = (status: RequestReport["status"], outputTokens: number): RequestReport =>
  sampleRequest("a", { status, outputTokens, arrivalMs: 100, firstTokenMs: status === "queued" ? null : 140 });

const NOT_WAITING = { queuePlace: null, queueWaitS: null, promptTokens: null, cachedTokens: null, retry: null };

it("counts the speed from the first token and the wait from the arrival", () => {
  const stats = new RequestStats();
  stats.addRequest(request("queued", 0));
  stats.addStep(step(140, "a"));
  expect(stats.figuresOf("a")).toEqual({ tokensPerSecond: null, ttftMs: 40, outputTokens: 1, ...NOT_WAITING });
  stats.addStep(step(150, "b"));
  stats.addStep(step(160, "a"));
  stats.addStep(step(180, "a"));
  expect(stats.figuresOf("a")).toEqual({ tokensPerSecond: 50, ttftMs: 40, outputTokens: 3, ...NOT_WAITING });
});

it("takes nothing more from a step that was under way when the request ended", () => {
  const stats = new RequestStats();
  stats.addStep(step(140, "a"));
  stats.addStep(step(150, "a"));
  stats.addRequest(request("finished", 2));
  stats.addStep(step(200, "a"));
  expect(stats.figuresOf("a")).toMatchObject({ tokensPerSecond: 100, outputTokens: 2, queuePlace: null });
});

it("counts the first of several answers that grow side by side", () => {
  const stats = new RequestStats();
  const both = (atMs: number) => sampleStep({ atMs, entries: [sampleEntry("a"), { ...sampleEntry("a"), index: 1 }] });
  stats.addStep(both(140));
  stats.addStep(both(150));
  stats.addRequest({ ...request("finished", 9), index: 1 });
  stats.addStep(both(160));
  expect(stats.figuresOf("a")).toMatchObject({ tokensPerSecond: 100, outputTokens: 3 });
});

it("says how long the wait may be as soon as an answer has been measured", () => {
  const stats = new RequestStats();
  const waiting = sampleStep({ entries: [sampleEntry("a"), sampleEntry("b")], waitingIds: ["c", "d"] });
  stats.addStep(waiting);
  stats.addRequest(sampleRequest("d", { status: "queued" }));
  expect(stats.figuresOf("d")).toMatchObject({ queuePlace: 2, queueWaitS: null });
  const ended = { status: "finished", scheduledMs: 1000, finishedMs: 7000, finishReason: "stop" } as const;
  stats.addRequest(sampleRequest("z", ended));
  // Who stops it says nothing of how long an answer takes.
  stats.addRequest(sampleRequest("y", { ...ended, finishedMs: 1001, finishReason: "abort" }));
  stats.addStep(waiting);
  // Two run, six seconds each: one ends every three.
  expect(stats.figuresOf("d")).toMatchObject({ queuePlace: 2, queueWaitS: 6 });
});

it("forgets the oldest requests", () => {
  const stats = new RequestStats();
  for (let index = 0; index <= 256; index++) stats.addStep(step(0, `r${index}`));
  expect(stats.figuresOf("r0")).toBeNull();
  expect(stats.figuresOf("r1")).not.toBeNull();
});

it("knows from the first token on how much of the prompt the cache had", () => {
  const stats = new RequestStats();
  stats.addRequest(sampleRequest("a", { status: "queued", promptTokens: 40 }));
  expect(stats.figuresOf("a")).toMatchObject({ promptTokens: null, cachedTokens: null });
  stats.addRequest(sampleRequest("a", { status: "first-token", firstTokenMs: 20, promptTokens: 40, cachedTokens: 32 }));
  expect(stats.figuresOf("a")).toMatchObject({ promptTokens: 40, cachedTokens: 32 });
});

it("says why a server is asked again, until its answer begins", () => {
  const stats = new RequestStats(() => 0);
  stats.sent("a");
  expect(stats.figuresOf("a")?.retry).toBeNull();
  stats.retrying("a", "busy (2 of 6)");
  expect(stats.figuresOf("a")?.retry).toBe("busy (2 of 6)");
  stats.received("a", 1);
  expect(stats.figuresOf("a")?.retry).toBeNull();
});
