// Portable arithmetic has the same bits in every engine, on every processor, whatever becomes of the kernels: a change that
// alters one changes answers, and is to be made knowingly. portable-bits.json has a hash of the logits of each kind of model.

import { createHash } from "node:crypto";

import { expect, it } from "vitest";

import { openCpuModel, type TestRow } from "../../../tests/cpu/cpu-model.ts";
import { ThreadPool } from "./threads/thread-pool.ts";
import bits from "./portable-bits.json" with { type: "json" };

const KINDS = (["f32", "f16", "q8", "q4", "q8 int8", "q4 int8"] as const).flatMap((weights) =>
  (["gpt2", "llama"] as const).flatMap((style) =>
    (["f32", "f16"] as const).map((cacheDtype) => ({ weights, style, cacheDtype })),
  ),
);

const rows: readonly TestRow[] = Array.from({ length: 24 }, (_, position) => ({
  token: (position * 37) % 100,
  position,
  slot: 0,
  samples: true,
}));

it.each(KINDS)("$style, weights in $weights, cache in $cacheDtype", async (kind) => {
  const [dtype, activationDtype = "f32"] = kind.weights.split(" ") as ["f32" | "f16" | "q8" | "q4", "int8" | undefined];
  const model = await openCpuModel({
    ...kind,
    dtype,
    activationDtype,
    layers: 2,
    width: 64,
    heads: 4,
    keyHeads: kind.style === "llama" ? 2 : 4,
    inner: 100,
    vocabSize: 100,
    context: 32,
    math: "portable",
    maxRows: rows.length,
    maxSlots: 1,
    maxThreads: 1,
    isShared: false,
  });
  const pool = await ThreadPool.open(model.plan, { threads: 1, openHelper: () => Promise.reject(new Error("alone")) });
  model.write(rows);
  pool.run();
  const hash = createHash("sha256");
  rows.forEach((_, i) => hash.update(model.logits(i)).update(String(model.token(i))));
  const name = `${kind.style} ${kind.weights} ${kind.cacheDtype}`;
  expect({ [name]: hash.digest("hex").slice(0, 16) }).toEqual({ [name]: (bits as Record<string, string>)[name] });
});
