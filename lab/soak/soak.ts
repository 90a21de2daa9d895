// A long day, compressed: random load of every kind on an engine, while users leave, its device is lost, its settings and model
// change and its page is hidden; between engines, some that are left before they have done anything. Nothing of a test runner is imported: a page runs it, too.

import type { ChorusEngine } from "../../src/protocol/engine.ts";
import { ChorusError } from "../../src/protocol/errors.ts";
import type { EngineChanges } from "../../src/protocol/live-config.ts";
import { pairwise } from "../../tests/requests/pairwise.ts";
import { BackgroundFairness } from "./fairness.ts";
import { bodyOf, isOdd, numberOf } from "./requests.ts";
import { seededRandom } from "../seeded-random.ts";

export interface SoakHome {
  /** Number of kinds of engines: models, or configurations of one. */
  readonly numKinds: number;
  /** @param signal aborts the loading, where that can be aborted */
  open(kind: number, signal?: AbortSignal): Promise<ChorusEngine>;
  nowMs(): number;
  sleep(ms: number): Promise<void>;
  /** Takes the device away from the engine that is open. Returns whether it has one. */
  loseDevice(): boolean | Promise<boolean>;
  /** Lets another page share the engine that is open, if it is shared, and closes it in the middle of its answers. */
  visit?(): Promise<void>;
  /** Hides and freezes the page for some time. [it can't be hidden] */
  hide?(): Promise<void>;
  /** Returns bytes in use by name, without garbage. */
  memory(): Promise<Readonly<Record<string, number>>>;
  notify?(line: string): void;
}

const NUM_USERS = 10;
const ROUND_MS = 20_000;
/** Every two values of two settings meet. No setting changes an answer. */
const SETTINGS: readonly EngineChanges[] = pairwise<unknown>({
  batchingMode: ["static", "sequential", "continuous"],
  schedulingPolicy: ["fcfs", "priority", "shortest-remaining", "balanced"],
  runAhead: [0, 1, 4],
  enablePrefixCaching: [false, true],
  longPrefillTokenThreshold: [0, 7],
  maxStepStretch: [1, 1000],
  targetItlMs: [null, 1],
});
const CHANGES_PER_ROUND = 3;
const DEFAULTS = Object.fromEntries(Object.keys(SETTINGS[0] ?? {}).map((name) => [name, null]));

/**
 * Runs rounds until the time is over: each opens an engine, puts load on it, waits until it is idle and closes it.
 * @throws Error if anything is not as it should be
 */
export async function soak(home: SoakHome, { ms, seed }: { ms: number; seed: number }) {
  const random = seededRandom(seed);
  const endMs = home.nowMs() + ms;
  const first = new Map<string, string>();
  /** Bytes after each round, per kind of engine and name. */
  const memory: Record<string, number[]> = {};
  const counts = {
    rounds: 0,
    answered: 0,
    /** Answers that their users left: by a signal, or by reading no further. */
    left: 0,
    refused: 0,
    /** Answers that were compared with the first one to the same request, to the last bit. */
    compared: 0,
    losses: 0,
    preemptions: 0,
    draftTokens: 0,
    settingsChanges: 0,
    /** Engines that were left while they loaded, or in the middle of an answer. */
    leftEngines: 0,
    hidden: 0,
  };
  /** Most steps that a running answer went without a row, in continuous batching. */
  let longestGapSteps = 0;

  for (; home.nowMs() < endMs; counts.rounds++) {
    const kind = counts.rounds % home.numKinds;
    home.notify?.(`Round ${counts.rounds + 1}: ${JSON.stringify(counts)}`);
    const engine = await home.open(kind);
    const fairness = new BackgroundFairness(engine);
    let failure: unknown = null;
    engine.on("fatal", ({ message }) => (failure = new Error(`The engine died: ${message}`)));
    const roundEndMs = home.nowMs() + ROUND_MS;
    const goesOn = () => home.nowMs() < roundEndMs && failure === null;

    const use = async () => {
      while (goesOn()) {
        await home.sleep(1500 * random());
        const number = numberOf(random);
        const stop = random() < 0.2 ? new AbortController() : null;
        if (stop !== null) void home.sleep(2000 * random()).then(() => stop.abort());
        const answer = await ask(engine, number, random() < 0.1 ? 10 * random() : Infinity, stop?.signal);
        if (answer === null) {
          counts.left++;
          continue;
        }
        if (answer.startsWith("[")) counts.answered++;
        else counts.refused++;
        const key = `${kind} ${number}`;
        const known = first.get(key);
        if (known === undefined) first.set(key, answer);
        else if (known !== answer) throw new Error(`Request ${number} got ${answer}, and before ${known}.`);
        else counts.compared++;
      }
    };
    const disturb = async () => {
      await home.sleep(ROUND_MS * (0.2 + 0.4 * random()));
      const losses = () => engine.stats().then(({ device_losses_total: total }) => total);
      const isLost = await home.loseDevice();
      // An idle engine may not notice; one with work does.
      if (isLost) while (goesOn() && (await losses()) === 0) await home.sleep(200);
      counts.losses += await losses();
      await home.hide?.();
      if (home.hide) counts.hidden++;
      await home.visit?.();
      fairness.pause();
      for (let i = 0; i < CHANGES_PER_ROUND; i++) {
        await engine.update(SETTINGS[counts.settingsChanges++ % SETTINGS.length] ?? {});
        await home.sleep(1000);
      }
      await engine.update(DEFAULTS);
      await home.sleep(1000);
      fairness.resume();
    };
    const fail = (error: unknown) => void (failure ??= error);
    await Promise.all([disturb(), ...Array.from({ length: NUM_USERS }, use)].map((part) => part.catch(fail)));
    if (failure !== null) throw failure;
    const stats = await atRest(engine, home);
    counts.preemptions += stats.num_preemptions_total;
    counts.draftTokens += stats.spec_decode_num_draft_tokens_total;
    longestGapSteps = Math.max(longestGapSteps, fairness.longestGapSteps);
    for (const [name, bytes] of Object.entries(await home.memory()))
      (memory[`${name}, kind ${kind}`] ??= []).push(bytes);
    await engine.dispose();
    await (counts.rounds % 2 === 0 ? leaveWhileLoading : leaveInMidAnswer)(home, kind, random);
    counts.leftEngines++;
  }
  return { ...counts, longestGapSteps, memory, growth: growthOf(memory) };
}

/** Returns the relative growth of each kind of memory since its first two rounds, which warm up. */
function growthOf(memory: Readonly<Record<string, readonly number[]>>): Readonly<Record<string, number>> {
  const growth = Object.entries(memory).flatMap(([name, [first = NaN, second = NaN, ...later]]) => {
    const last = later.at(-1);
    return last === undefined ? [] : [[name, last / Math.max(first, second) - 1] as const];
  });
  return Object.fromEntries(growth);
}

async function leaveWhileLoading(home: SoakHome, kind: number, random: () => number): Promise<void> {
  const leaving = new AbortController();
  void home.sleep(300 * random()).then(() => leaving.abort());
  try {
    await (await home.open(kind, leaving.signal)).dispose();
  } catch (error) {
    if (!leaving.signal.aborted) throw error;
  }
}

async function leaveInMidAnswer(home: SoakHome, kind: number, random: () => number): Promise<void> {
  const engine = await home.open(kind);
  const ended = Promise.allSettled(Array.from({ length: NUM_USERS }, (_, number) => ask(engine, number)));
  await home.sleep(300 * random());
  await engine.dispose();
  for (const one of await ended) {
    if (one.status === "rejected" && one.reason?.code !== "engine_disposed") throw one.reason;
  }
}

/**
 * Returns the answer, or what was refused in the request; null if its user left.
 * @param maxParts parts of a stream that its user reads [all]
 * @throws Error if it fails, and not by its own fault
 */
async function ask(
  engine: ChorusEngine,
  number: number,
  maxParts = Infinity,
  signal?: AbortSignal,
): Promise<string | null> {
  const body = bodyOf(number);
  const options = signal ? { signal } : undefined;
  try {
    if (number % 2 === 0) return JSON.stringify((await engine.completions.create(body, options)).choices);
    const parts: unknown[] = [];
    let numParts = 0;
    for await (const { choices } of await engine.completions.create({ ...body, stream: true }, options)) {
      for (const { index, text, token_ids, logprobs, finish_reason } of choices) {
        // Pieces of a stream depend on the steps; their joined text doesn't.
        const [ids, values] = (parts[index] ??= [[], [], "", null]) as [number[], unknown[], string, unknown];
        ids.push(...(token_ids ?? []));
        values.push(...(logprobs?.token_logprobs ?? []));
        const part = parts[index] as [unknown, unknown, string, unknown];
        part[2] += text;
        part[3] = finish_reason;
      }
      if (++numParts > maxParts) return null;
    }
    return JSON.stringify(parts);
  } catch (error) {
    if (signal?.aborted) return null;
    if (isOdd(number) && error instanceof ChorusError && error.param !== null) return `${error.code} of ${error.param}`;
    throw error;
  }
}

/** Waits until nothing runs. @throws Error for leftover blocks or sequences */
async function atRest(engine: ChorusEngine, home: SoakHome) {
  for (const startMs = home.nowMs(); ; await home.sleep(100)) {
    const stats = await engine.stats();
    const { num_requests_running: running, num_requests_waiting: waiting } = stats;
    const isAtRest = running === 0 && waiting === 0 && stats.num_gpu_blocks_free === stats.num_gpu_blocks;
    const { refCounts, sequences } = await engine.kvCacheMap();
    if (isAtRest && sequences.length === 0 && refCounts.every((count) => count === 0)) return stats;
    if (home.nowMs() > startMs + 60_000) throw new Error(`The engine does not come to rest: ${JSON.stringify(stats)}`);
  }
}
