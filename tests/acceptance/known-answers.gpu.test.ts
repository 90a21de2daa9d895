// A driver that compiles kernels wrongly: plainer kernels take over, and the answers are right.

import { expect, it } from "vitest";

import { createEngine, type ChorusEngine } from "../../src/index.ts";
import { createComplete } from "../requests/create-complete.ts";
import { withTamperedDevice } from "../gpu/one-device.ts";
import { miscompile } from "../gpu/tampered-gpu.ts";

const TINY = { model: "/tests/fixtures/gpt2-tiny/", worker: false, dtype: "f32", kvCacheDtype: "f32" } as const;

async function answer(engine: ChorusEngine): Promise<unknown> {
  const prompt = Array.from({ length: 30 }, (_, i) => (i * 37) % 500);
  const { choices } = await engine.completions.create({ prompt, max_tokens: 8, ignore_eos: true, temperature: 0 });
  return choices;
}

async function answerOfCpu(): Promise<unknown> {
  await using engine = await createEngine({ ...TINY, backend: "cpu", cpuThreads: 1 });
  expect(engine.model.notice).toBeNull();
  return await answer(engine);
}
const rightAnswer = await answerOfCpu();

it("takes plainer kernels when the default ones compute wrong answers", async () => {
  let numBroken = 0;
  const onDevice = (device: GPUDevice) =>
    miscompile(device, (label, code) => {
      if (!label.startsWith("attention-quad")) return code;
      numBroken += 1;
      return code.replace("* SCALE", "/ SCALE");
    });
  // Results are remembered by the adapter's name.
  const gpu = await withTamperedDevice(`broken ${crypto.randomUUID()}`, onDevice);
  await using engine = await createEngine({ ...TINY, backend: "webgpu", gpu });
  expect(numBroken).toBeGreaterThan(0);
  expect(engine.model).toMatchObject({ backend: "webgpu", notice: expect.stringContaining("wrong answers") as string });
  expect(await answer(engine)).toEqual(rightAnswer);
});

it.each([
  ["other random numbers", "0x1bd11bdau", "0x1bd11bdbu"],
  ["chance alone", "fma(logit / temperature", "fma(0.0 * temperature"],
  ["the logits alone", "one(count), gumbel(", "one(count), 0.0 * gumbel("],
])("finds a sampler wrong that draws by %s", async (_by, right, wrong) => {
  let numBroken = 0;
  const onDevice = (device: GPUDevice) =>
    miscompile(device, (_label, code) => {
      numBroken += Number(code.includes(right));
      return code.replaceAll(right, wrong);
    });
  const gpu = await withTamperedDevice(`broken ${crypto.randomUUID()}`, onDevice);
  await expect(createEngine({ ...TINY, backend: "webgpu", gpu })).rejects.toMatchObject({ code: "wrong_answers" });
  expect(numBroken).toBeGreaterThan(0);
});

it.each([
  { kernel: "matmul-subgroup", right: "own, 3u", wrong: "own, 2u" },
  // A row that does not see itself: the kernel for rows one by one, which is checked first, stays as it is.
  { kernel: "attention-quad", only: '"ROWS":4', right: "tile + corner <= position", wrong: "tile + corner < position" },
])("does without a later $kernel that computes wrong answers", async ({ kernel, only = "", right, wrong }) => {
  let numBroken = 0;
  const onDevice = (device: GPUDevice) =>
    miscompile(device, (label, code) => {
      if (!label.startsWith(kernel) || !label.includes(only)) return code;
      numBroken += Number(code.includes(right));
      return code.replaceAll(right, wrong);
    });
  const gpu = await withTamperedDevice(`broken ${crypto.randomUUID()}`, onDevice);
  await using engine = await createComplete(createEngine, { ...TINY, gpu });
  expect(numBroken).toBeGreaterThan(0);
  expect(engine.model.notice).toBeNull();
  expect(await answer(engine)).toEqual(rightAnswer);
});

it.each([
  ["sample", "select(0u, samples[i].top_k,", "select(0u, 2u * samples[i].top_k,", { temperature: 1, top_k: 5 }],
  ["process-logits", "logit -= request.presence_penalty;", "", { presence_penalty: 1 }],
  ["top-logprobs", "is_after && (logit > value", "is_after && (logit < value", { logprobs: 3 }],
])("does without a %s that computes wrong answers", async (kernel, right, wrong, fields) => {
  let numBroken = 0;
  const onDevice = (device: GPUDevice) =>
    miscompile(device, (label, code) => {
      if (!label.startsWith(`${kernel} `)) return code;
      numBroken += Number(code.includes(right));
      return code.replaceAll(right, wrong);
    });
  const gpu = await withTamperedDevice(`broken ${crypto.randomUUID()}`, onDevice);
  await using engine = await createEngine({ ...TINY, backend: "webgpu", gpu });
  const request = { prompt: [1, 2, 3], max_tokens: 2, ...fields };
  await expect(engine.completions.create(request)).rejects.toMatchObject({ code: "kernel_refused" });
  expect(numBroken).toBeGreaterThan(0);
  expect(await answer(engine)).toEqual(rightAnswer);
});
