import fc from "fast-check";
import { expect, it } from "vitest";
import { pack, unpack } from "./packed-message.ts";
import type { Completion } from "./openai.ts";
import type { RequestReport, StepEntry, StepReport } from "./reports.ts";
import type { EngineMessage, RequestEvent } from "./service.ts";

const count = fc.nat();
const ms = fc.double({ min: 0, max: 1e9, noNaN: true, noDefaultInfinity: true });
const id = fc.record({ requestId: fc.string(), index: count });
const finishReason = fc.constantFrom(null, "stop", "length", "abort");

const entry: fc.Arbitrary<StepEntry> = fc.record({
  requestId: fc.string(),
  index: count,
  start: count,
  rows: count,
  promptRows: count,
  cachedTokens: count,
  sampled: fc.boolean(),
  drafted: count,
  accepted: count,
  finishReason,
  slot: count,
  blocks: fc.array(count),
  firstBlock: count,
  blocksGivenBack: count,
});
const step: fc.Arbitrary<StepReport> = fc.record({
  step: count,
  atMs: ms,
  stepMs: ms,
  cpuMs: ms,
  gpuMs: fc.option(ms),
  rows: count,
  promptRows: count,
  sampledTokens: count,
  entries: fc.array(entry),
  maxNumSeqs: count,
  maxNumBatchedTokens: count,
  numRunning: count,
  numWaiting: count,
  waitingIds: fc.array(fc.string()),
  kvBlocksUsed: count,
  numResidentTokens: count,
  kvBlocksCached: count,
  kvBlocksTotal: count,
  preempted: fc.array(id),
  preemptionsTotal: count,
  prefixCacheQueriesTotal: count,
  prefixCacheHitsTotal: count,
});
const text = fc.record({ type: fc.constant("text"), ticket: count, choice: count, text: fc.string() });
const chunk: Completion = { id: "1", object: "text_completion", created: 0, model: "m", choices: [] };
const event: fc.Arbitrary<RequestEvent> = fc.oneof(
  { weight: 4, arbitrary: text },
  fc.record({ type: fc.constant("end"), ticket: count }),
  fc.record({ type: fc.constant("chunk"), ticket: count, chunk: fc.constant(chunk) }),
);
const message: fc.Arbitrary<EngineMessage> = fc.record({
  events: fc.oneof(fc.array(text), fc.array(event)),
  steps: fc.array(step, { maxLength: 2 }),
  requests: fc.constantFrom([], [{ requestId: "r" } as RequestReport]),
  words: fc.constantFrom([], [{ status: "answered", step: 1, answers: [] } as const]),
  kernels: fc.constantFrom([], [{ step: 1, kernels: [] }]),
  alerts: fc.constant([]),
  devices: fc.constant([]),
  configs: fc.constant([]),
  fatal: fc.option(fc.constant({ code: "worker_died", message: "", param: null } as const)),
  lost: fc.constant(null),
});

it("a message is the same on the other side", () => {
  fc.assert(
    fc.property(message, (sent) => {
      expect(unpack(structuredClone(pack(sent)))).toEqual(sent);
    }),
  );
});

it("what a step usually brings crosses without the names of fields", () => {
  const events: RequestEvent[] = [{ type: "text", ticket: 7, choice: 0, text: " word" }];
  const [sent] = fc.sample(message, { numRuns: 1, seed: 1 });
  const defaultText = { ...sent!, events, requests: [], words: [], kernels: [], fatal: null };
  expect(pack({ ...defaultText, steps: [] })).toEqual({ texts: [7, 0, " word"] });
  expect(Object.keys(pack({ ...defaultText, steps: fc.sample(step, 1) }))).toEqual(["texts", "steps"]);
});
