// Measures JavaScript's memory in a page and all its workers with the browser's inspector.

import { setTimeout } from "node:timers/promises";
import type { CDPSession, Page } from "playwright";

const SAMPLE_MS = 20;
// Chromium doesn't always report that a worker has ended during a call.
const MAX_SILENCE_MS = 30_000;

/** Bytes: V8's heap, the DOM's own heap (as that of Blobs and streams), and what array buffers hold outside of both. */
interface HeapUsage {
  readonly usedSize: number;
  readonly embedderHeapUsedSize: number;
  readonly backingStorageSize: number;
}

/** `bytes`: all of it. */
type Held = Readonly<Record<"bytes" | "heapBytes" | "domBytes" | "bufferBytes", number>>;

type Call = (method: string) => Promise<any>;

/** Samples until it is stopped. A worker is included from its start. */
export async function startHeapMeter(page: Page) {
  const session = await page.context().newCDPSession(page);
  const targets = new Map<string, Call>([["page", (method) => session.send(method as "Runtime.getHeapUsage")]]);
  const last = new Map<string, HeapUsage>();
  let samples = 0;
  const ending = new AbortController();

  const forget = (id: string) => {
    targets.delete(id);
    last.delete(id);
  };
  const sample = async (id: string) => {
    const usage = await answered(targets.get(id)?.("Runtime.getHeapUsage"));
    // It may have ended meanwhile.
    if (usage === undefined || !targets.has(id)) return;
    last.set(id, usage);
    samples++;
    const now = totals(last);
    if (now.bytes > peak.bytes) peak = now;
  };
  const follow = async (id: string) => {
    while (!ending.signal.aborted && targets.has(id)) {
      await sample(id);
      await setTimeout(SAMPLE_MS);
    }
  };
  let peak = totals(last);

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
      return { peak: difference(peak, before), samples };
    },
  };
}

/**
 * Returns a function that calls a method of the inspector in a page's worker. Playwright's sessions know nothing of sessions
 * within them, hence messages in messages.
 */
function workerCalls(session: CDPSession): (sessionId: string, method: string) => Promise<any> {
  let lastId = 0;
  const waiting = new Map<number, (message: { result?: unknown; error?: unknown }) => void>();
  session.on("Target.receivedMessageFromTarget", ({ message }) => {
    const answer = JSON.parse(message);
    waiting.get(answer.id)?.(answer);
    waiting.delete(answer.id);
  });
  return (sessionId, method) =>
    new Promise((resolve, reject) => {
      const id = ++lastId;
      waiting.set(id, ({ result, error }) => (error ? reject(new Error(JSON.stringify(error))) : resolve(result)));
      session.send("Target.sendMessageToTarget", { sessionId, message: JSON.stringify({ id, method }) }).catch(reject);
    });
}

/** Returns the answer; undefined from a target that has ended, reported or not. */
function answered(answer: Promise<any> | undefined): Promise<any> {
  const inTime = new AbortController();
  const silence = setTimeout(MAX_SILENCE_MS, undefined, { signal: inTime.signal });
  return Promise.race([answer, silence])
    .catch(() => undefined)
    .finally(() => inTime.abort());
}

function totals(last: ReadonlyMap<string, HeapUsage>): Held {
  let [heapBytes, domBytes, bufferBytes] = [0, 0, 0];
  for (const { usedSize, embedderHeapUsedSize, backingStorageSize } of last.values()) {
    heapBytes += usedSize;
    domBytes += embedderHeapUsedSize;
    bufferBytes += backingStorageSize;
  }
  return { bytes: heapBytes + domBytes + bufferBytes, heapBytes, domBytes, bufferBytes };
}

function difference(now: Held, before: Held): Held {
  const names = Object.keys(now) as (keyof Held)[];
  return Object.fromEntries(names.map((name) => [name, now[name] - before[name]])) as Held;
}
