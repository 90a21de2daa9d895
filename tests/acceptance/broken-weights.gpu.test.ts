// A checkpoint with a token whose embedding is NaN: each request that has it says so, and the engine goes on. (One whose
// weights are all NaN is refused when it is loaded: models/check-values.ts.)

import { expect, it } from "vitest";

import { createEngine } from "../../src/index.ts";
import { withCommonDevice } from "../gpu/one-device.ts";
import { checkpointFiles } from "../models/golden-answers.ts";

interface Entry {
  readonly shape: readonly [rows: number, columns: number];
  readonly data_offsets: readonly [begin: number, end: number];
}

/** The checkpoint's files, all bits of token 1's embedding set: NaN. */
async function brokenFiles(): Promise<File[]> {
  const files = await checkpointFiles("model.safetensors");
  return Promise.all(
    files.map(async (file) => {
      if (file.name !== "model.safetensors") return file;
      const bytes = new Uint8Array(await file.arrayBuffer());
      const dataBegin = 8 + new DataView(bytes.buffer).getUint32(0, true);
      const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, dataBegin))) as Record<string, Entry>;
      const {
        shape,
        data_offsets: [begin],
      } = header["transformer.wte.weight"]!;
      const rowBytes = 4 * shape[1];
      bytes.fill(0xff, dataBegin + begin + rowBytes, dataBegin + begin + 2 * rowBytes);
      return new File([bytes], file.name);
    }),
  );
}

const BACKENDS = ["webgpu", "cpu"] as const;
const gpu = await withCommonDevice();

it.each(BACKENDS)("ends requests with model_numerics, and not the engine, on %s", async (backend) => {
  await using engine = await createEngine({
    model: await brokenFiles(),
    worker: false,
    gpu,
    backend,
    cpuThreads: 1,
    dtype: "f32",
  });
  const body = { prompt: [2, 3, 1], max_tokens: 20, ignore_eos: true };
  const numerics = { code: "model_numerics" };
  for (const fields of [
    {},
    { temperature: 0.7, top_k: 5 },
    { n: 2, logprobs: 1 },
    { structured_outputs: { regex: "[a-z]+" } },
  ]) {
    await expect(engine.completions.create({ ...body, ...fields })).rejects.toMatchObject(numerics);
  }
  const streaming = (async () => {
    for await (const chunk of await engine.completions.create({ ...body, stream: true })) expect(chunk).toBeNull();
  })();
  await expect(streaming).rejects.toMatchObject(numerics);
  const stats = await engine.stats();
  expect(stats.num_gpu_blocks_free).toBe(stats.num_gpu_blocks);
});

it.each(BACKENDS)("does so where log-probabilities are those of what is left to draw, on %s", async (backend) => {
  const options = {
    worker: false,
    gpu,
    backend,
    cpuThreads: 1,
    dtype: "f32",
    logprobsMode: "processed_logprobs",
  } as const;
  await using engine = await createEngine({ model: await brokenFiles(), ...options });
  const requested = engine.completions.create({ prompt: [2, 3, 1], max_tokens: 20, ignore_eos: true });
  await expect(requested).rejects.toMatchObject({ code: "model_numerics" });
});
