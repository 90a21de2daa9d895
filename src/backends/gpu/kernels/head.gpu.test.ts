// The head's summary of its logits, and draws from that summary.

import { describe, expect, it } from "vitest";

import {
  differingWords,
  expectClose,
  floatsOf,
  openTestDevice,
  randomFloats,
  runKernel,
} from "../../../../tests/gpu/gpu.ts";
import { packMatrix } from "../../../../tests/references/pack-matrix.ts";
import { partsOf } from "../../../../tests/gpu/sum-logits.ts";
import { gumbel } from "../../../engine/sampling/gumbel.ts";
import { packSamples } from "../../../../tests/gpu/samples.ts";
import { padRows, padTo, strideOf } from "../padding.ts";
import { layoutConstants } from "../matrix-layout.ts";
import { matmulSkinny, matmulTiled, sample, topLogprobs } from "./kernels.ts";
import { Epilogue } from "../../epilogues.ts";
import { BINS } from "../sampler.ts";

const { device } = await openTestDevice();

type Fields = Readonly<Record<string, number>>;

const WIDTH = 40;
const K4 = strideOf(WIDTH) / 4;
const MAX_LENGTH = 8;
const MAX_TOP = 3;

/** Kinds of requests, which use the parts in different ways. */
const REQUESTS: Fields[] = [
  { temperature: 0 },
  { temperature: 1, seed_low: 7 },
  { temperature: 0.7, seed_low: 8, seed_high: 3, output_index: 2, num_top: 3 },
  { temperature: 2.5, seed_low: 11, top_k: 100_000 },
  { temperature: 0.8, seed_low: 9, top_k: 5 },
  { temperature: 0.8, seed_low: 10, top_p: 0.6, num_top: 2 },
  { temperature: 0.9, seed_low: 12, min_p: 0.2 },
  { temperature: 0.9, seed_low: 13, typical_p: 0.7 },
  { temperature: 0, flags: 1 },
  { temperature: 1, flags: 1, seed_low: 14, num_top: 1 },
  { temperature: 0, flags: 16, scored_token: 0, num_top: 3 },
];
/** The requests that draw from all tokens, and the one that draws from five. */
const FREE = [1, 2, 3];
const FIVE = 4;
const rows = REQUESTS.length;

interface Head {
  kernel: "skinny" | "tiled";
  /** Rows of a workgroup. */
  height: number;
  /** Number of bindings over which the head is split. */
  parts: number;
}

/** Logits of every request, and what the head says of them. */
async function headOf(
  vocabulary: number,
  { kernel, height, parts }: Head,
  { bias = 0, drawable = vocabulary }: { bias?: number; drawable?: number } = {},
) {
  const stride = strideOf(vocabulary);
  const numParts = Math.ceil(drawable / 32);
  const outputs = { y: new Float32Array(64 * stride), logit_parts: new Float32Array(4 * 64 * numParts) };
  const w = randomFloats(WIDTH * vocabulary, 3, 2);
  const columns = padTo(32, Math.ceil(vocabulary / parts));
  for (let first = 0; first < vocabulary; first += columns) {
    const n = Math.min(columns, vocabulary - first);
    const N4 = strideOf(n) / 4;
    const own = Float32Array.from(
      { length: WIDTH * n },
      (_, i) => w[Math.floor(i / n) * vocabulary + first + (i % n)] ?? 0,
    );
    const shape = {
      K4,
      N4,
      Y4: stride / 4,
      SAMPLES_ONLY: true,
      ...layoutConstants("f32"),
      EPILOGUE: Epilogue.head,
      NORM: false,
      RMS: false,
      WIDTH: 0,
      EPSILON: 0,
      VOCABULARY: drawable,
      FIRST_TOKEN: first,
    };
    const data = {
      x: padRows(randomFloats(64 * WIDTH, 4), 64, WIDTH),
      w: packMatrix(own, WIDTH, n, "f32").words,
      bias: new Float32Array(4 * N4).fill(bias),
      norm: new Float32Array(4),
      samples: packSamples(REQUESTS),
      y: new Float32Array(64 * stride),
      logit_parts: outputs.logit_parts,
      step: new Uint32Array([0, rows, 0, 0]),
    };
    const grid: [number, number] = [Math.ceil(N4 / 8), Math.ceil(rows / height)];
    const found =
      kernel === "skinny"
        ? await runKernel(device, matmulSkinny, { ...shape, COLUMNS: 8, SPLITS: 2, ROWS: height }, data, grid)
        : await runKernel(device, matmulTiled, { ...shape, ...tileOf(height) }, data, grid);
    // Each part of the head writes to its own columns.
    outputs.logit_parts = new Float32Array(found.logit_parts ?? new ArrayBuffer(0));
    for (let r = 0; r < rows; r++) {
      outputs.y.set(floatsOf(found, "y").subarray(r * stride, r * stride + 4 * N4), r * stride + first);
    }
  }
  return { logits: outputs.y.subarray(0, rows * stride), parts: outputs.logit_parts.subarray(0, 4 * rows * numParts) };
}

function tileOf(height: number) {
  return { COLUMN_LANES: 8, ROW_LANES: height / 2, ROWS: 2, VECS: 1 };
}

/** What the sampler makes of the logits, with the head's summary of them or with that of a dispatch of its own. */
async function drawn(
  vocabulary: number,
  { logits, parts }: Awaited<ReturnType<typeof headOf>>,
  byHead: boolean,
  STRIDE = strideOf(vocabulary),
) {
  const shape = {
    LANES: 64,
    VOCABULARY: vocabulary,
    STRIDE,
    PROCESSED_LOGPROBS: false,
  };
  const samples = packSamples(REQUESTS);
  const own = () => partsOf(device, logits.slice(), { VOCABULARY: vocabulary, STRIDE, samples });
  const read = {
    logits: logits.slice(),
    processed: logits.map((logit, i) => (i % 3 === 0 ? -logit : logit)),
    logit_parts: byHead ? parts.slice() : await own(),
    samples,
  };
  const written = {
    feedback: new Uint32Array(rows),
    history: new Uint32Array(rows * MAX_LENGTH),
    sampled: new Uint32Array(2 * rows),
    bins: new Uint32Array(BINS * rows),
  };
  const kind = { MAX_LENGTH, HISTOGRAM_IN_BUFFER: false };
  const { sampled } = await runKernel(device, sample, { ...shape, ...kind }, { ...read, ...written }, [rows, 1]);
  const top = new Uint32Array(2 * MAX_TOP * rows);
  const listed = await runKernel(device, topLogprobs, { ...shape, MAX_TOP }, { ...read, top }, [rows, 1]);
  return { sampled: pairs(sampled), top: pairs(listed.top) };
}

function pairs(bytes = new ArrayBuffer(0)) {
  const [words, floats] = [new Uint32Array(bytes), new Float32Array(bytes)];
  return Array.from({ length: words.length / 2 }, (_, i) => ({
    token: words[2 * i],
    logprob: floats[2 * i + 1] ?? NaN,
  }));
}

/** Each kernel with some vocabulary: compiling takes most of the time. With the largest some lanes of the sampler read two parts. */
const VOCABULARIES: { vocabulary: number; others: readonly Head[] }[] = [
  { vocabulary: 1, others: [{ kernel: "tiled", height: 4, parts: 1 }] },
  {
    vocabulary: 33,
    others: [
      { kernel: "skinny", height: 16, parts: 1 },
      { kernel: "tiled", height: 16, parts: 1 },
    ],
  },
  {
    vocabulary: 2101,
    others: [
      { kernel: "skinny", height: 3, parts: 1 },
      { kernel: "tiled", height: 16, parts: 3 },
    ],
  },
];

describe.each(VOCABULARIES)("of a vocabulary of $vocabulary tokens", async ({ vocabulary, others }) => {
  const stride = strideOf(vocabulary);
  const head = await headOf(vocabulary, { kernel: "skinny", height: 1, parts: 1 });

  it("the head gives the peak, the softmax and the luckiest token of each 32 logits", () => {
    const { logits, parts } = head;
    for (const [r, { temperature = 1, seed_low = 0, seed_high = 0, output_index = 0 }] of REQUESTS.entries()) {
      // With a single token, top-k 5 filters nothing.
      const isFree = FREE.includes(r) || (r === FIVE && vocabulary === 1);
      for (let first = 0; first < vocabulary; first += 32) {
        const own = [...logits.subarray(r * stride + first, r * stride + Math.min(first + 32, vocabulary))];
        const [peak = NaN, total = NaN, luck = NaN, tokens = NaN] = parts.subarray((r * stride + first) / 8);
        expect(peak).toBe(Math.max(...own));
        expect(own.indexOf(peak)).toBe(tokens % 32);
        const weights = own.map((logit) => Math.exp(logit - peak));
        expectClose([total / weights.reduce((sum, weight) => sum + weight)], [1], 1e-6);
        if (!isFree) {
          expect(luck).toBe(Math.fround(-3.4028234e38));
          continue;
        }
        const gumbels = own.map((_, i) => gumbel([seed_low, seed_high], [output_index, first + i]));
        const lucks = own.map((logit, i) => logit / temperature + (gumbels[i] ?? NaN));
        const luckiest = lucks.indexOf(Math.max(...lucks));
        // WGSL allows log an error of 2^-21 near 1. gumbel = -log(-log u) multiplies that by exp(gumbel).
        const tolerance = 1e-5 + 2 ** -21 * Math.exp(gumbels[luckiest] ?? 0);
        expectClose(
          [luck, lucks[Math.floor(tokens / 32)] ?? NaN],
          Array(2).fill(lucks[luckiest]) as number[],
          tolerance,
        );
      }
    }
  });

  it.each(others)("its summary has the same bits from $kernel, $height rows, in $parts parts", async (other) => {
    const { logits, parts } = await headOf(vocabulary, other);
    expect(differingWords(logits.slice().buffer, head.logits.slice().buffer)).toBe(0);
    expect(differingWords(parts.slice().buffer, head.parts.slice().buffer)).toBe(0);
  });

  it("the sampler draws the same from it as from a summary that is a dispatch of its own", async () => {
    const [short, long] = await Promise.all([drawn(vocabulary, head, true), drawn(vocabulary, head, false)]);
    for (const name of ["sampled", "top"] as const) {
      expect(short[name].map(({ token }) => token)).toEqual(long[name].map(({ token }) => token));
      const logprobs = (pairsOf: typeof short.top) => pairsOf.map(({ logprob }) => logprob);
      expectClose(logprobs(short[name]), logprobs(long[name]), 2e-6);
    }
    // If the drawn token is among its sample's likeliest, both raw log-probabilities have the same bits.
    for (const [r, { num_top = 0, flags = 0 }] of REQUESTS.entries()) {
      const own = short.top
        .slice(r * MAX_TOP, r * MAX_TOP + num_top)
        .find((one) => one.token === short.sampled[r]?.token);
      if (own && flags === 0) expect(own.logprob).toBe(short.sampled[r]?.logprob);
    }
  });
});

it("no token is drawn that the vocabulary has not, where no logit is a number", async () => {
  const head = await headOf(33, { kernel: "skinny", height: 16, parts: 1 }, { bias: NaN });
  expect(head.logits.every((logit) => Number.isNaN(logit))).toBe(true);
  const [short, long] = await Promise.all([drawn(33, head, true), drawn(33, head, false)]);
  expect(short.sampled.map(({ token }) => token)).toEqual(long.sampled.map(({ token }) => token));
});

it("columns beyond the vocabulary are padding, and never drawn", async () => {
  const [columns, vocabulary] = [120, 40];
  const head = await headOf(columns, { kernel: "skinny", height: 3, parts: 2 }, { drawable: vocabulary });
  const drawnFrom = (size: number, hasParts: boolean) => drawn(size, head, hasParts, strideOf(columns));
  const [all, short, long] = [
    await drawnFrom(columns, false),
    await drawnFrom(vocabulary, true),
    await drawnFrom(vocabulary, false),
  ];
  // A scored token's place holds its rank.
  const draws = REQUESTS.flatMap(({ scored_token }, r) => (scored_token === undefined ? [r] : []));
  const most = ({ sampled }: typeof all) => Math.max(...draws.map((r) => sampled[r]?.token ?? NaN));
  expect(most(all)).toBeGreaterThanOrEqual(vocabulary);
  expect(most(long)).toBeLessThan(vocabulary);
  expect(short.sampled.map(({ token }) => token)).toEqual(long.sampled.map(({ token }) => token));
  expect(short.top.map(({ token }) => token)).toEqual(long.top.map(({ token }) => token));
});
