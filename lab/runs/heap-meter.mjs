// Measures JavaScript's memory in a page and all its workers with the browser's inspector.

import { setTimeout } from "node:timers/promises";

import { workerCalls } from "./worker-calls.mjs";

const SAMPLE_MS = 20;
// Chromium doesn't always report that a worker has ended during a call.
const MAX_SILENCE_MS = 30_000;

/**
 * Bytes: V8's heap, the DOM's own heap (as that of Blobs and streams), and what array buffers hold outside of both.
 *
 * @typedef {{ usedSize: number, embedderHeapUsedSize: number, backingStorageSize: number }} HeapUsage
 * @typedef {{ bytes: number, heapBytes: number, domBytes: number, bufferBytes: number }} Held `bytes`: all of it
 */

/**
 * Samples until it is stopped. A worker is included from its start.
 *
 * @param {import("playwright").Page} page
 */
export async function startHeapMeter(page) {
  const session = await page.context().newCDPSession(page);
  const targets = new Map([["page", (/** @type {string} */ method) => session.send(/** @type {any} */ (method))]]);
  /** @type {Map<string, HeapUsage>} The last sample of each. */
  const last = new Map();
  /** @type {Held} */
  let peak = { bytes: 0, heapBytes: 0, domBytes: 0, bufferBytes: 0 };
  let samples = 0;
  let longestGapMs = 0;
  const ending = new AbortController();

  const forget = (/** @type {string} */ id) => {
    targets.delete(id);
    last.delete(id);
  };
  const sample = async (/** @type {string} */ id) => {
    const usage = await answered(targets.get(id)?.("Runtime.getHeapUsage"));
    // It may have ended meanwhile.
    if (usage === undefined || !targets.has(id)) return;
    last.set(id, usage);
    samples++;
    const now = totals(last);
    if (now.bytes > peak.bytes) peak = now;
  };
  const follow = async (/** @type {string} */ id) => {
    let lastMs = performance.now();
    while (!ending.signal.aborted && targets.has(id)) {
      await sample(id);
      longestGapMs = Math.max(longestGapMs, performance.now() - lastMs);
      lastMs = performance.now();
      await setTimeout(SAMPLE_MS);
    }
  };

  const ask = workerCalls(session);
  session.on("Target.attachedToTarget", ({ sessionId, targetInfo }) => {
    if (targetInfo.type !== "worker") return;
    targets.set(sessionId, (method) => ask(sessionId, method));
    void follow(sessionId);
  });
  session.on("Target.detachedFromTarget", ({ sessionId }) => forget(sessionId));
  await session.send("Target.setAutoAttach", { autoAttach: true, waitForDebuggerOnStart: false, flatten: false });

  /** Returns the memory in use now, without garbage. */
  const settle = async () => {
    for (const [id, call] of targets) {
      if ((await answered(call("HeapProfiler.collectGarbage"))) === undefined) forget(id);
    }
    for (const id of targets.keys()) await sample(id);
    return totals(last);
  };
  const before = await settle();
  peak = before;
  void follow("page");
  return {
    /** Returns the memory in use now beyond that at the beginning, without garbage. */
    settled: async () => difference(await settle(), before),
    /** Returns the most memory in use at a time beyond that at the beginning, with garbage. */
    async stop() {
      ending.abort();
      await session.detach();
      return { peak: difference(peak, before), samples, longestGapMs };
    },
  };
}

/** Returns the answer; undefined from a target that has ended, reported or not. */
function answered(/** @type {Promise<any> | undefined} */ answer) {
  const inTime = new AbortController();
  const silence = setTimeout(MAX_SILENCE_MS, undefined, { signal: inTime.signal });
  return Promise.race([answer, silence])
    .catch(() => undefined)
    .finally(() => inTime.abort());
}

/** @returns {Held} */
function totals(/** @type {ReadonlyMap<string, HeapUsage>} */ last) {
  let [heapBytes, domBytes, bufferBytes] = [0, 0, 0];
  for (const { usedSize, embedderHeapUsedSize, backingStorageSize } of last.values()) {
    heapBytes += usedSize;
    domBytes += embedderHeapUsedSize;
    bufferBytes += backingStorageSize;
  }
  return { bytes: heapBytes + domBytes + bufferBytes, heapBytes, domBytes, bufferBytes };
}

/** @returns {Held} */
function difference(/** @type {Held} */ now, /** @type {Held} */ before) {
  const names = /** @type {(keyof Held)[]} */ (Object.keys(now));
  return /** @type {Held} */ (Object.fromEntries(names.map((name) => [name, now[name] - before[name]])));
}
