// Synthetic loads, drawn from a seed.

import { poissonArrivalsMs } from "../load/load.ts";
import { seededRandom } from "../seeded-random.ts";
import type { Load, LoadedRequest } from "./replay-load.ts";

/** Fitted to tests/fixtures/runs/mixed.jsonl, rounded. */
const STEP_TIME = { baseMs: 4.5, perRowMs: 1.9, perAttendedMs: 0 };

interface Kind {
  /** Share of the requests, relative to the other kinds'. */
  readonly weight: number;
  readonly promptTokens: readonly [from: number, to: number];
  readonly outputTokens: readonly [from: number, to: number];
  /** null: the answer is as long as the caller allows. */
  readonly maxTokens: number | null;
  readonly priority: number;
}

interface SeededLoad {
  readonly count: number;
  /** Requests a second; Infinity: all at once. */
  readonly rate: number;
  readonly kinds: readonly [Kind, ...Kind[]];
  readonly config: Load["config"];
}

const SHORT: Kind = { weight: 3, promptTokens: [8, 32], outputTokens: [4, 12], maxTokens: null, priority: 0 };
const LONG: Kind = { weight: 1, promptTokens: [8, 32], outputTokens: [120, 200], maxTokens: null, priority: 1 };
const SIMILAR: Kind = { ...SHORT, promptTokens: [16, 24], outputTokens: [36, 44] };
const UNKNOWN = [
  { ...SHORT, maxTokens: 256 },
  { ...LONG, maxTokens: 256 },
] as const;
const FEW_SLOTS = { maxNumSeqs: 4, maxNumBatchedTokens: 64, numGpuBlocks: 512, blockSize: 16 };
/** Sixteen slots, and blocks for about three long answers. */
const SMALL_CACHE = { ...FEW_SLOTS, maxNumSeqs: 16, numGpuBlocks: 40 };
/** Requests per second: nearly the capacity of four slots, and twice as many. */
const [BUSY, OVERLOAD] = [5, 12];

const LOADS = {
  "mixed lengths": { count: 200, rate: BUSY, kinds: [SHORT, LONG], config: FEW_SLOTS },
  "mixed lengths, overload": { count: 200, rate: OVERLOAD, kinds: [SHORT, LONG], config: FEW_SLOTS },
  "mixed lengths, small cache": { count: 200, rate: OVERLOAD, kinds: [SHORT, LONG], config: SMALL_CACHE },
  "mixed lengths, static batches": {
    count: 200,
    rate: OVERLOAD,
    kinds: [SHORT, LONG],
    config: { ...FEW_SLOTS, batchingMode: "static" },
  },
  "lengths unknown, small cache": { count: 200, rate: OVERLOAD, kinds: UNKNOWN, config: SMALL_CACHE },
  "similar lengths": { count: 200, rate: BUSY, kinds: [SIMILAR], config: FEW_SLOTS },
  "similar lengths, overload": { count: 200, rate: OVERLOAD, kinds: [SIMILAR], config: FEW_SLOTS },
  "similar lengths, small cache": { count: 200, rate: OVERLOAD, kinds: [SIMILAR], config: SMALL_CACHE },
} satisfies Record<string, SeededLoad>;

type SeededLoadName = keyof typeof LOADS;

export const SEEDED_LOADS = Object.keys(LOADS) as SeededLoadName[];

export function seededLoad(name: SeededLoadName, seed = 1): Load {
  const { count, rate, kinds, config }: SeededLoad = LOADS[name];
  const random = seededRandom(seed);
  const between = ([from, to]: readonly [number, number]) => from + Math.floor(random() * (to - from + 1));
  const total = kinds.reduce((sum, { weight }) => sum + weight, 0);
  const requests = poissonArrivalsMs(count, rate, random).map((arrivalMs): LoadedRequest => {
    let at = random() * total;
    const kind = kinds.find(({ weight }) => (at -= weight) < 0) ?? kinds[0];
    const outputTokens = between(kind.outputTokens);
    const maxTokens = kind.maxTokens ?? outputTokens;
    const { priority } = kind;
    return { arrivalMs, promptTokens: between(kind.promptTokens), sharedTokens: 0, outputTokens, maxTokens, priority };
  });
  return { name, requests, config, stepTime: STEP_TIME };
}
