// Many users on many servers, by arithmetic: the scheduler, the paged cache and the prefix cache are the real ones; computing
// is a table of step times, and the network takes no time.

import { seededRandom } from "../seeded-random.ts";
import { percentileOf } from "../statistics.ts";
import { Replica, type ReplicaConfig, type StepCost } from "./replica.ts";

/** Which server gets a request: the one with the fewest, or the one that has the conversation. */
type Balancing = "least connections" | "prefix";

export interface FleetOptions {
  readonly users: number;
  readonly replicas: number;
  readonly balancing: Balancing;
  readonly cost: StepCost;
  readonly replica?: Partial<ReplicaConfig>;
  /** Virtual seconds. The first quarter fills the caches and is not measured. */
  readonly seconds: number;
  /** Mean of the exponential time between an answer and the next question, seconds. [30] */
  readonly thinkS?: number;
  readonly seed?: number;
}

interface FleetResult {
  readonly answers: number;
  readonly ttftMs: { readonly p50: number; readonly p95: number };
  readonly itlMs: { readonly p50: number; readonly p95: number };
  /** 0..1: prompt tokens that a prefix cache had. */
  readonly prefixHits: number;
  /** 0..1: the time that servers computed. */
  readonly use: number;
}

/** Tokens: of the system prompt that all share, of a question, of an answer. */
const SYSTEM = 48;
const QUESTION = [8, 40] as const;
const ANSWER = [24, 96] as const;
/** A server that has more than this many times the mean of requests is passed over, as consistent hashing with bounds does. */
const BOUND = 1.25;

interface User {
  readonly name: number;
  history: number[];
  turn: number;
  askedMs: number;
  lastMs: number | null;
  maxTokens: number;
}

export async function simulateFleet(options: FleetOptions): Promise<FleetResult> {
  const { users: numUsers, replicas: numReplicas, balancing, cost, seconds, thinkS = 30, seed = 1 } = options;
  const config = { maxNumSeqs: 64, maxModelLen: 512, numGpuBlocks: 2048, ...options.replica };
  const random = seededRandom(seed);
  const between = ([from, to]: readonly [number, number]) => from + Math.floor(random() * (to - from + 1));
  const thinkMs = () => -Math.log(1 - random()) * thinkS * 1000;
  const servers = Array.from({ length: numReplicas }, () => new Replica(config, cost));
  const system = Array.from({ length: SYSTEM }, (_, i) => 10 + i);
  const users = Array.from({ length: numUsers }, (_, name): User => {
    return { name, history: [...system], turn: 0, askedMs: 0, lastMs: null, maxTokens: 0 };
  });
  // Users come one after another, not all at once.
  const arrivals = new Queue<User>();
  for (const user of users) arrivals.push(random() * thinkS * 1000, user);
  const endMs = seconds * 1000;
  const measuredFromMs = endMs / 4;
  const ttfts: number[] = [];
  const itls: number[] = [];
  let answers = 0;

  const choose = (user: User): Replica => {
    const open = servers.reduce((sum, { numOpen }) => sum + numOpen, 0);
    const most = Math.ceil((BOUND * (open + 1)) / numReplicas);
    const home = hash(user.name) % numReplicas;
    if (balancing === "prefix") {
      for (let i = 0; i < numReplicas; i++) {
        const server = servers[(home + i) % numReplicas];
        if (server && server.numOpen < most) return server;
      }
    }
    const fewest = Math.min(...servers.map(({ numOpen }) => numOpen));
    const idle = servers.filter(({ numOpen }) => numOpen === fewest);
    return idle[Math.floor(random() * idle.length)] ?? (servers[0] as Replica);
  };

  const ask = (user: User, atMs: number) => {
    user.maxTokens = between(ANSWER);
    const question = between(QUESTION);
    // A conversation that fills the context begins anew.
    if (user.history.length + question + user.maxTokens > config.maxModelLen) user.history = [...system];
    for (let i = 0; i < question; i++) user.history.push(100 + hash(user.name * 1009 + user.turn * 31 + i));
    user.askedMs = atMs;
    user.lastMs = null;
    choose(user).add(`${user.name}.${user.turn}`, user.history, user.maxTokens, atMs);
  };

  for (;;) {
    const server = servers.reduce((first, other) => (other.readyMs < first.readyMs ? other : first));
    const nextMs = Math.min(server.readyMs, arrivals.firstMs());
    if (nextMs >= endMs) break;
    if (arrivals.firstMs() <= server.readyMs) {
      const user = arrivals.pop();
      if (user) ask(user, nextMs);
      continue;
    }
    for (const { requestId, tokenIds, finishReason } of await server.step()) {
      const user = users[Number(requestId.split(".")[0])];
      if (user === undefined) continue;
      const isMeasured = user.askedMs >= measuredFromMs;
      if (tokenIds.length > 0) {
        if (isMeasured && user.lastMs === null) ttfts.push(nextMs - user.askedMs);
        else if (isMeasured && user.lastMs !== null) itls.push(nextMs - user.lastMs);
        user.lastMs = nextMs;
        user.history.push(...tokenIds);
      }
      if (finishReason === null) continue;
      if (isMeasured) answers++;
      user.turn++;
      arrivals.push(nextMs + thinkMs(), user);
    }
  }
  const total = (pick: (server: Replica) => number) => servers.reduce((sum, server) => sum + pick(server), 0);
  const percentiles = (values: readonly number[]) => ({ p50: percentileOf(values, 50), p95: percentileOf(values, 95) });
  return {
    answers,
    ttftMs: percentiles(ttfts),
    itlMs: percentiles(itls),
    prefixHits: total(({ cachedTokens }) => cachedTokens) / total(({ promptTokens }) => promptTokens),
    use: total(({ busyMs }) => busyMs) / endMs / numReplicas,
  };
}

/** Mixes an integer to 16 bits. */
function hash(value: number): number {
  let x = Math.imul(value + 1, 0x9e3779b1);
  x = Math.imul(x ^ (x >>> 15), 0x85ebca6b);
  return (x ^ (x >>> 13)) & 0xffff;
}

/** Items by time: a binary heap. */
class Queue<Item> {
  readonly #heap: { readonly atMs: number; readonly item: Item }[] = [];

  firstMs(): number {
    return this.#heap[0]?.atMs ?? Infinity;
  }

  push(atMs: number, item: Item): void {
    const heap = this.#heap;
    let at = heap.length;
    const entry = { atMs, item };
    while (at > 0) {
      const up = (at - 1) >> 1;
      const parent = heap[up];
      if (parent === undefined || parent.atMs <= atMs) break;
      heap[at] = parent;
      at = up;
    }
    heap[at] = entry;
  }

  pop(): Item | undefined {
    const heap = this.#heap;
    const [first] = heap;
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first?.item;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if ((heap[child + 1]?.atMs ?? Infinity) < (heap[child]?.atMs ?? Infinity)) child++;
      const next = heap[child];
      if (next === undefined || next.atMs >= last.atMs) break;
      heap[at] = next;
      at = child;
    }
    heap[at] = last;
    return first.item;
  }
}
