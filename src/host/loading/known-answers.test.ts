// What counts as a wrong answer, and what is remembered of it. The kernels that are checked are the CPU's, tampered with.

import { readFile } from "node:fs/promises";

import { expect, it, test, vi } from "vitest";

import { resolveEngineConfig } from "../../api/engine-config.ts";
import type { CheckedKernels } from "../../backends/backend.ts";
import { cpuBackend } from "../../backends/cpu/cpu-backend.ts";
import type { Runner, SampledToken } from "../../engine/runner.ts";
import { ROW_WORDS, type StepPlan } from "../../engine/step-plan.ts";
import type { ModelWeights } from "../../models/model-weights.ts";
import type { EngineConfig } from "../../protocol/config.ts";
import { nnLinear } from "../../models/layers.ts";
import { ChorusError } from "../../protocol/errors.ts";
import { allowRelaxedSimd } from "../../../tests/cpu/cpu.ts";
import { randomFloats } from "../../../tests/gpu/gpu.ts";
import { openDecoderFixture } from "../../../tests/models/decoder-fixtures.ts";
import { FAMILY_FIXTURES } from "../../../tests/models/family-fixtures.ts";
import { readFixture } from "../../../tests/models/fixtures.ts";
import { inventedFamily } from "../../../tests/models/invented-family.ts";
import { randomWeights } from "../../../tests/models/random-weights.ts";
import { tensorOf } from "../../../tests/references/tensors.ts";
import { KnownAnswers } from "./known-answers.ts";
import { offerCpu, ONE_THREAD } from "../platforms/offered-backends.ts";
import { memoryTuningStore } from "../platforms/tuning-store.ts";

allowRelaxedSimd();

type Tamper = (token: SampledToken, step: number, sample: number) => SampledToken;

function checked(
  weights: ModelWeights,
  tamper: Tamper = (token) => token,
  config: EngineConfig = { maxNumSeqs: 1 },
  missing: NonNullable<Runner["missing"]> = () => null,
) {
  const { shape } = weights.model;
  const engine = resolveEngineConfig({ dtype: "f32", kvCacheDtype: "f32", ...config }, shape);
  const checks: string[] = [];
  const plans: StepPlan[] = [];
  const kernels: CheckedKernels = {
    id: () => Promise.resolve("kernels"),
    async part(graph) {
      checks.push("checked");
      const part = { ...weights, model: { ...weights.model, graph } };
      const runner = await (await cpuBackend(ONE_THREAD).open()).load({ weights: part, engine });
      let step = -1;
      return {
        missing,
        async submit(plan) {
          plans.push(plan);
          const { sequences, gpuMs } = await runner.submit(plan);
          step += 1;
          const each = (tokens: readonly SampledToken[]) => tokens.map((token, i) => tamper(token, step, i));
          return {
            sequences: sequences.map(({ scored, drawn }) => ({ scored: each(scored), drawn: each(drawn) })),
            gpuMs,
          };
        },
      };
    },
  };
  const tuning = memoryTuningStore();
  const reference = offerCpu(() => ONE_THREAD);
  const openReference = vi.spyOn(reference, "load");
  const answersIn = (runtime = "browser 1") => {
    const platform = { tuning, runtime, reference, now: () => performance.now() };
    return new KnownAnswers({ weights, engine, vocabSize: shape.vocabSize, platform });
  };
  const check = (runtime?: string, adapterName = "GPU") => answersIn(runtime).wrongAnswersOf({ kernels, adapterName });
  return { check, checks, plans, engine, answersIn, kernels, openReference };
}

it.each(FAMILY_FIXTURES)("finds the few layers of %s right, and remembers", async (name) => {
  const { check, checks } = checked((await readFixture(name)).weights());
  expect(await check()).toBeNull();
  expect(await check()).toBeNull();
  expect(checks).toHaveLength(1);
  await check("browser 2");
  await check("browser 2", "another GPU");
  expect(checks).toHaveLength(3);
});

it.each(["lfm2", "qwen35"] as const)("asks %s again, which keeps more than keys and values", async (name) => {
  const read = (path: string) => readFile(`tests/fixtures/${path}`).then((bytes) => Uint8Array.from(bytes));
  const { weights } = await openDecoderFixture(name, read);
  // A tied head likes the token that it read last, whatever was before.
  const { vocabSize, hiddenSize } = weights.model.shape;
  const { matrix: table } = nnLinear("other head", hiddenSize, vocabSize);
  const { operations, values } = weights.model.graph;
  const untied = operations.map((one) => (one.type === "head" ? { ...one, table } : one));
  for (const seed of [1, 2, 3]) {
    const head = tensorOf(randomFloats(vocabSize * hiddenSize, seed), vocabSize, hiddenSize);
    const { check } = checked({
      ...weights,
      model: { ...weights.model, graph: { operations: untied, values } },
      tensor: (weight) => (weight === table ? head : weights.tensor(weight)),
    });
    expect(await check()).toBeNull();
  }
});

it.each([40, 512])(
  "knows the frequencies of an engine of up to %i tokens, however few its steps have",
  async (maxModelLen) => {
    const read = (path: string) => readFile(`tests/fixtures/${path}`).then((bytes) => Uint8Array.from(bytes));
    const { weights } = await openDecoderFixture("phi3-longrope", read);
    const { operations, values } = weights.model.graph;
    const later = operations.map((one) =>
      one.type === "rotary" && one.angles.long
        ? { ...one, angles: { ...one.angles, long: { ...one.angles.long, from: 100 } } }
        : one,
    );
    const model = { ...weights.model, graph: { operations: later, values } };
    expect(await checked({ ...weights, model }, undefined, { maxNumSeqs: 1, maxModelLen }).check()).toBeNull();
  },
);

it.each([0, 1])("closes what it compares with, whether its model loads or not: %i loads fail", async (numFailures) => {
  const { check, openReference } = checked((await readFixture("gpt2-tiny")).weights());
  const open = async () => {
    const opened = await cpuBackend(ONE_THREAD).open();
    const load = numFailures > 0 ? () => Promise.reject(new Error("no memory")) : opened.load.bind(opened);
    return { ...opened, load, close };
  };
  const close = vi.fn<() => void>();
  openReference.mockResolvedValueOnce({ ...cpuBackend(ONE_THREAD), open });
  await check();
  expect(close).toHaveBeenCalledOnce();
});

it("checks a family that has not been published", async () => {
  const { check, checks } = checked(randomWeights(inventedFamily.describe({})));
  expect(await check()).toBeNull();
  expect(checks).toHaveLength(1);
});

it.each([1, 4, 7, 8])("checks what a cache of %i blocks holds", async (numGpuBlocks) => {
  const weights = (await readFixture("gpt2-tiny")).weights();
  for (const maxNumSeqs of [1, 4]) {
    expect(await checked(weights, undefined, { numGpuBlocks, maxNumSeqs }).check()).toBeNull();
    const tamper: Tamper = (token, step) => (step === 0 ? off(token, NaN) : token);
    expect(await checked(weights, tamper, { numGpuBlocks, maxNumSeqs }).check()).toEqual(expect.any(String));
  }
});

it("reads only what an earlier step wrote, and writes no slot that the same step reads", async () => {
  const { check, plans, engine } = checked((await readFixture("gpt2-tiny")).weights());
  await check();
  const table = plans[0]?.blockTables[0]?.values ?? [];
  const slotOf = (position: number) =>
    (table[Math.floor(position / engine.blockSize)] ?? NaN) * engine.blockSize + (position % engine.blockSize);
  const written = new Set<number>();
  for (const { rows } of plans) {
    const positions = Array.from({ length: rows.length / ROW_WORDS }, (_, i) => rows[i * ROW_WORDS + 1] ?? NaN);
    const own = new Set(positions.map(slotOf));
    expect(own.size).toBe(positions.length);
    for (let before = 0; before < Math.max(...positions); before++) {
      if (positions.includes(before)) continue;
      expect(own).not.toContain(slotOf(before));
      expect(written).toContain(slotOf(before));
    }
    for (const slot of own) written.add(slot);
  }
  expect(plans.length).toBe(4); // the last one twice
});

test.each<[string, Tamper]>([
  ["one logit in the third step", (token, step, i) => (step === 2 && i === 4 ? off(token, 0.01) : token)],
  ["no number in the last step", (token, step, i) => (step === 2 && i === 1 ? off(token, NaN) : token)],
  ["a draw", (token, step) => (step === 2 && token.rank === undefined ? { ...token, tokenId: 3 } : token)],
  ["a draw by chance", (token, step) => (step === 0 && token.rank === undefined ? { ...token, tokenId: 3 } : token)],
  [
    "a draw that chance decides alone",
    (token, step) => (step === 3 && token.rank === undefined ? { ...off(token, -9), tokenId: 3 } : token),
  ],
  ["a draw's log-probability", (token, step) => (step === 1 && token.rank === undefined ? off(token, -99) : token)],
])("tells what is wrong: %s", async (_what, tamper) => {
  const { check, checks } = checked((await readFixture("gpt2-tiny")).weights(), tamper);
  const fault = await check();
  expect(fault).toEqual(expect.any(String));
  expect(await check()).toBe(fault);
  expect(checks).toHaveLength(1);
});

it("waits for no kernel that its steps can do without", async () => {
  const weights = (await readFixture("gpt2-tiny")).weights();
  const refused = new ChorusError("kernel_refused", "The driver does not compile it.");
  const refuseFrom = (least: number): NonNullable<Runner["missing"]> => {
    return ({ numTop }) => (numTop >= least ? Promise.reject(refused) : Promise.resolve());
  };
  expect(await checked(weights, undefined, undefined, refuseFrom(1)).check()).toBeNull();
  await expect(checked(weights, undefined, undefined, refuseFrom(0)).check()).rejects.toBe(refused);
});

it("blames nobody for weights that are no numbers", async () => {
  const weights = (await readFixture("gpt2-tiny")).weights();
  const tensor: ModelWeights["tensor"] = (weight) => {
    const whole = weights.tensor(weight);
    return { ...whole, readRows: async (begin, end) => (await whole.readRows(begin, end)).fill(0xff) };
  };
  const { check, checks } = checked({ ...weights, tensor });
  expect(await check()).toBeNull();
  expect(await check()).toBeNull();
  expect(checks).toHaveLength(2);
});

it("blames nobody for a token whose row of the head is no number", async () => {
  const weights = (await readFixture("gpt2-tiny")).weights();
  const noNumber: Tamper = (token) => off(token, NaN); // as a softmax over that token makes all
  const tensor: ModelWeights["tensor"] = (weight) => {
    const whole = weights.tensor(weight);
    if (whole.rows !== weights.model.shape.vocabSize) return whole;
    return {
      ...whole,
      async readRows(begin, end) {
        const bytes = await whole.readRows(begin, end);
        const rowBytes = bytes.length / (end - begin);
        return begin <= 1 && end > 1 ? bytes.fill(0xff, (1 - begin) * rowBytes, (2 - begin) * rowBytes) : bytes;
      },
    };
  };
  expect(await checked({ ...weights, tensor }, noNumber).check()).toBeNull();
  expect(await checked(weights, noNumber).check()).toEqual(expect.any(String));
});

it("computes what is right beforehand, where no kernels were checked yet", async () => {
  const { answersIn, kernels, openReference } = checked((await readFixture("gpt2-tiny")).weights());
  const answers = answersIn();
  await answers.prepare("GPU");
  expect(openReference).toHaveBeenCalledTimes(1);
  expect(await answers.wrongAnswersOf({ kernels, adapterName: "GPU" })).toBeNull();
  expect(openReference).toHaveBeenCalledTimes(1);
  await answersIn().prepare("GPU");
  expect(openReference).toHaveBeenCalledTimes(1);
  await answersIn().prepare("another GPU");
  await answersIn("browser 2").prepare("GPU");
  expect(openReference).toHaveBeenCalledTimes(3);
});

it("tells nothing where what is right can't be computed", async () => {
  const weights = (await readFixture("gpt2-tiny")).weights();
  const { answersIn, kernels, openReference, plans } = checked(weights, (token) => off(token, NaN));
  openReference.mockRejectedValue(new Error("no WebAssembly"));
  const open = vi.spyOn(kernels, "part");
  const answers = answersIn();
  await answers.prepare("GPU");
  expect(await answers.wrongAnswersOf({ kernels, adapterName: "GPU" })).toBeNull();
  await Promise.all(open.mock.results.map(({ value }) => value as Promise<unknown>));
  await new Promise((resolve) => setTimeout(resolve));
  // Nobody waits for steps whose answers can't be compared: they would be in the way of an answer.
  expect(plans).toEqual([]);
  expect(openReference).toHaveBeenCalledTimes(2);
});

function off(token: SampledToken, by: number): SampledToken {
  return { ...token, logprob: token.logprob + by };
}
