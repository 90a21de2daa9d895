import { expect, it } from "vitest";

import { settle } from "../../../../tests/app/open-panes.ts";
import { RemoteBatches, type ReadBatch } from "./remote-batches.ts";

const URL = "http://host.example/v1";
const SILENT = { sent() {}, received() {}, ended() {} };
const BATCH = { running: 3, waiting: 1, kvUse: 0.5, prefixHits: null, generatedTokens: 100 };

function open(read: ReadBatch) {
  let nowMs = 0;
  let numReads = 0;
  const counted: ReadBatch = (baseUrl) => (numReads++, read(baseUrl));
  const batches = new RemoteBatches(counted, () => nowMs);
  const tick = async (ms: number) => {
    nowMs += ms;
    batches.tick();
    await settle();
    batches.tick();
  };
  return { batches, tick, observer: batches.observer(URL, SILENT), numReads: () => numReads };
}

it("reads a server's metrics once a second while it answers this page, and once after", async () => {
  let generatedTokens = 100;
  const { batches, tick, observer, numReads } = open(async () => ({ ...BATCH, generatedTokens }));
  await tick(250);
  expect([numReads(), batches.store.getState()]).toEqual([0, []]);
  observer.sent("a");
  await tick(250);
  expect(batches.store.getState()).toMatchObject([
    { baseUrl: URL, ownOpen: 1, server: { running: 3 }, isBlind: false },
  ]);
  generatedTokens = 150;
  observer.received("a", 20);
  for (let i = 0; i < 4; i++) await tick(250);
  expect(numReads()).toBe(2);
  expect(batches.store.getState()).toMatchObject([{ serverTokensPerSecond: 50, ownTokensPerSecond: 20 }]);
  observer.ended("a");
  for (let i = 0; i < 20; i++) await tick(250);
  expect(numReads()).toBe(3);
  expect(batches.store.getState()).toMatchObject([{ ownOpen: 0 }]);
  await tick(61_000);
  expect(batches.store.getState()).toEqual([]);
});

it("leaves a server alone whose metrics can't be read, and counts what comes", async () => {
  const { batches, tick, observer, numReads } = open(() => Promise.reject(new Error("CORS")));
  observer.sent("a");
  await tick(250);
  observer.received("a", 1);
  observer.received("a", 5);
  await tick(1000);
  await tick(1000);
  expect(numReads()).toBe(1);
  expect(batches.store.getState()).toMatchObject([{ server: null, isBlind: true, ownOpen: 1 }]);
  expect(batches.store.getState()[0]?.ownTokensPerSecond).toBeGreaterThan(0);
});

it("counts a server that was restarted from its own zero", async () => {
  let generatedTokens = 100;
  const { batches, tick, observer } = open(async () => ({ ...BATCH, generatedTokens }));
  observer.sent("a");
  await tick(250);
  generatedTokens = 3;
  await tick(1000);
  expect(batches.store.getState()[0]?.serverTokensPerSecond).toBeNull();
});
