// Compares each layer with the output of every Hugging Face module.

import { expect, it } from "vitest";

import { resolveEngineConfig } from "../../api/engine-config.ts";
import type { Value } from "../../models/graph.ts";
import { Sequence } from "../../engine/sequence.ts";
import { placeSequence } from "../../../tests/fakes/place-sequence.ts";
import { dispatchesOf, prepareGraph, runDispatches } from "../../../tests/gpu/prepared-graph.ts";
import { StepPlanner } from "../../engine/step-planner.ts";
import { GREEDY, loadGolden } from "../../../tests/models/golden.ts";
import { differingWords, expectClose, openTestDevice, readBuffer } from "../../../tests/gpu/gpu.ts";
import { defaultMatmuls } from "./matmul-variants.ts";
import { strideOf } from "./padding.ts";

const opened = await openTestDevice();
const { device, hasSubgroups } = opened;
const golden = await loadGolden("gpt2-tiny");
const prompt = golden.prompts.find(({ debug }) => debug);
const { modules, hidden_states } = prompt?.debug as unknown as {
  modules: Record<string, { off: number; shape: number[] }>;
  hidden_states: { off: number; shape: number[] }[];
};

const engine = resolveEngineConfig(
  { maxNumSeqs: 2, maxNumBatchedTokens: 32, numGpuBlocks: 4, dtype: "f32", kvCacheDtype: "f32" },
  golden.weights.model.shape,
);

const { operations } = golden.weights.model.graph;

/** The module whose output each dispatch completes. A layer's output is the residual stream after both of its sums. */
const CHECKPOINTS: [dispatch: string, module: string][] = [
  ["embed", "transformer.drop"],
  ...[0, 1].flatMap((i): [string, string][] => [
    [`layer ${i} ln1`, `transformer.h.${i}.ln_1`],
    [`layer ${i} qkv`, `transformer.h.${i}.attn.c_attn`],
    [`layer ${i} ln2`, `transformer.h.${i}.ln_2`],
    [`layer ${i} fc`, `transformer.h.${i}.mlp.act`],
    [`layer ${i} fcProj`, `transformer.h.${i}`],
  ]),
];

/** Returns the value that an operation writes. */
function outputOf(label: string): Value {
  const operation = operations.find((one) => one.label === label);
  return operation && "output" in operation ? operation.output : expect.fail(`no operation "${label}"`);
}

/** The kernels for GPUs of few rows have no separate dispatch for a norm. */
const isNorm = (dispatch: string) => /ln\d$/.test(dispatch);
// Keyed by the kernel of attention, since each has its own order of additions. Products agree in all kernels.
const firstLogits = new Map<boolean, ArrayBuffer>();

it.each([
  { style: "plain", hasSubgroups, embedding: "one part", maxBindingBytes: 2 ** 27 },
  { style: "plain", hasSubgroups: false, embedding: "four parts", maxBindingBytes: 1 },
  { style: "fused", hasSubgroups, embedding: "three parts", maxBindingBytes: 50_000 },
  // The kernel for one row comes first, and normalises by itself; that for many has norms of their own before it.
  { style: "fused", hasSubgroups, embedding: "one part", maxBindingBytes: 2 ** 27, hasNorms: true },
] as const)(
  "computes every module's output (style: $style, subgroups: $hasSubgroups, embedding in $embedding)",
  async ({ maxBindingBytes, ...given }) => {
    const adapter = { style: given.style, hasSubgroups: given.hasSubgroups };
    const isPlain = adapter.style === "plain";
    const isApart = "hasNorms" in given;
    const fused = defaultMatmuls({ ...adapter, style: "fused" });
    const ids = prompt?.ids ?? [];
    const { shape: model } = golden.weights.model;
    const { compiled, buffers, activations, step, arena } = await prepareGraph(opened, golden.weights, engine, {
      adapter,
      maxBindingBytes,
      ...(isApart && { matmuls: [...fused.slice(0, 1), ...fused.slice(-1)] }),
    });

    const sequence = new Sequence({ requestId: "a", index: 0, params: GREEDY, prompt: ids, arrivalMs: 0 });
    placeSequence(sequence, 1, [2]);
    const scheduled = { sequence, start: 0, count: ids.length, samples: true, drafts: [], scored: 0, cachedTokens: 0 };
    const shape = step.write(device.queue, new StepPlanner().plan([scheduled]));
    const checked: string[] = [];
    const dispatches = dispatchesOf(compiled, shape);
    const head = operations.at(-1);
    const table = head?.type === "head" ? head.table : expect.fail("the graph ends without a head");
    const parts = 2 * buffers.product(table).length; // tied: used by the embedding and the head
    const inLayer = isPlain ? 8 : 5; // plain kernels take such a prompt in tiles, from the cache
    // The one sample of the head is computed by the kernel for one row.
    expect(dispatches.length).toBe(model.numLayers * (inLayer + 2 * Number(isApart)) + parts + Number(isPlain));
    for (const [i, dispatch] of dispatches.entries()) {
      runDispatches(opened, [dispatch], shape);

      const [name, module] = CHECKPOINTS.find(([at]) => at === dispatch.name) ?? [];
      const expected = module && modules[module];
      // The parts of an operation share its name.
      if (!name || !expected || dispatches[i + 1]?.name === dispatch.name) continue;
      const width = expected.shape[1] ?? 0;
      const buffer = isApart && isNorm(name) ? activations.normed : activations.buffer(outputOf(name));
      const values = new Float32Array(await readBuffer(device, buffer));
      const dense = ids.flatMap((_, r) => [...values.subarray(r * strideOf(width), r * strideOf(width) + width)]);
      expectClose(dense, golden.tensor(expected), 5e-5);
      checked.push(dispatch.name);
    }
    expect(checked).toEqual(CHECKPOINTS.map(([at]) => at).filter((at) => isPlain || isApart || !isNorm(at)));

    if (isPlain) {
      const final = new Float32Array(await readBuffer(device, activations.buffer(outputOf("lnF")))).subarray(0, 64);
      const states = hidden_states.at(-1);
      if (!states) throw new Error("no hidden states in the fixture");
      expectClose(final, golden.tensor(states).subarray(6 * 64, 7 * 64), 5e-5);
    }
    const logits = (await readBuffer(device, activations.logits)).slice(0, 4 * model.vocabSize);
    if (!prompt) throw new Error("no prompt in the fixture");
    expectClose(new Float32Array(logits), golden.tensor(prompt.last_logits), 2e-4);
    const quads = isPlain && adapter.hasSubgroups;
    expect(differingWords(logits, firstLogits.get(quads) ?? logits)).toBe(0);
    firstLogits.set(quads, logits);
    arena.destroy();
  },
);
