import { readFileSync } from "node:fs";

import { expect, test } from "vitest";

import { seededRandom } from "../../lab/seeded-random.ts";
import { lastLogitsReference } from "../../tests/references/graph-reference.ts";
import { allowRelaxedSimd, bitsOf as inBits } from "../../tests/cpu/cpu.ts";
import { fakePlatform } from "../../tests/fakes/fake-platform.ts";
import { greedyTokens } from "../../tests/gpu/runner-runs.ts";
import { cpuBackend } from "../backends/cpu/cpu-backend.ts";
import type { CpuRunner } from "../backends/cpu/cpu-runner.ts";
import { EngineClient } from "../client/engine-client.ts";
import { EngineHost } from "../host/engine-host.ts";
import { configFor } from "../host/loading/config-for.ts";
import { describeModel } from "../models/families.ts";
import { weightsOf } from "../models/graph.ts";
import { openWeights, type ModelWeights } from "../models/model-weights.ts";
import { layoutsOf, type LayoutPart } from "../models/weight-layouts.ts";
import type { EngineConfig } from "../protocol/config.ts";
import { locateModel } from "../protocol/model-source.ts";
import { float32ToFloat16 } from "./half.ts";
import { openFileList } from "./model-files.ts";
import { openCheckpoint } from "./open-checkpoint.ts";
import { encodeSafetensorsHeader } from "./safetensors-header.ts";
import { floatsOf, type TensorDtype } from "./tensor.ts";

allowRelaxedSimd();

const FOLDER = "tests/fixtures/llama-tiny/tied";
const read = (name: string) => new Uint8Array(readFileSync(`${FOLDER}/${name}`));
const json = JSON.parse(new TextDecoder().decode(read("config.json"))) as Record<string, unknown>;
/** Wide enough for groups of 128. */
const config = { ...json, hidden_size: 128, intermediate_size: 256, head_dim: 32 };
const shapes = new Map(
  weightsOf(describeModel(config).graph).flatMap(({ tensors }) => tensors.map(({ name, shape }) => [name, shape])),
);

interface Stored {
  readonly dtype: TensorDtype | "U32";
  readonly shape: readonly number[];
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Rounds values to what a type can hold. */
const stored = (dtype: TensorDtype, values: readonly number[], shape: readonly number[]): Stored => {
  const floats = Float32Array.from(values);
  const words = new Uint32Array(floats.buffer);
  const as = { F32: floats, F16: float32ToFloat16(floats), BF16: Uint16Array.from(words, (one) => one >>> 16) };
  return { dtype, shape, bytes: new Uint8Array(as[dtype].buffer) };
};

function fileOf(tensors: ReadonlyMap<string, Stored>): File {
  const entries = [...tensors].map(([name, { dtype, shape, bytes }]) => ({
    name,
    dtype,
    shape,
    begin: 0,
    end: bytes.length,
  }));
  return new File(
    [encodeSafetensorsHeader(entries), ...[...tensors.values()].map(({ bytes }) => bytes)],
    "model.safetensors",
  );
}

/** Packs the matrices of a model as MLX does, with random integers. Returns it, and the same values, worked out in float64, as F32. */
function packed(bitsOf: (module: string) => number, group: number, scalesAs: TensorDtype = "BF16") {
  const random = seededRandom(7);
  const integer = (count: number) => Math.floor(random() * count);
  const [asMlx, asF32] = [new Map<string, Stored>(), new Map<string, Stored>()];
  for (const [name, shape] of shapes) {
    const [rows = 0, columns = 1] = shape;
    const some = (count: number, size: number) => Array.from({ length: count }, () => (random() - 0.5) * size);
    const module = name.replace(/\.weight$/, "");
    const bits = bitsOf(module);
    if (shape.length < 2 || bits === 0 || columns % group !== 0) {
      const values = stored("F32", some(rows * columns, 1), shape);
      for (const file of [asMlx, asF32]) file.set(name, values);
      continue;
    }
    const numGroups = (rows * columns) / group;
    const parts = [0.05, 0.3].map((size) => stored(scalesAs, some(numGroups, size), [rows, columns / group]));
    const [scales, biases] = parts as [Stored, Stored];
    const [s, b] = [floatsOf(scales.bytes, scalesAs), floatsOf(biases.bytes, scalesAs)];
    const integers = Array.from({ length: rows * columns }, () => integer(2 ** bits));
    const words = new Uint32Array((rows * columns * bits) / 32);
    for (const [i, q] of integers.entries()) words[Math.floor((i * bits) / 32)]! |= q << ((i * bits) % 32);
    asMlx.set(name, { dtype: "U32", shape: [rows, (columns * bits) / 32], bytes: new Uint8Array(words.buffer) });
    asMlx.set(`${module}.scales`, scales);
    asMlx.set(`${module}.biases`, biases);
    const exact = integers.map((q, i) => s[Math.floor(i / group)]! * q + b[Math.floor(i / group)]!);
    asF32.set(name, stored("F32", exact, shape));
  }
  return { asMlx: fileOf(asMlx), asF32: fileOf(asF32) };
}

const open = async (file: File, more: Record<string, unknown> = {}) => {
  const whole = { ...config, ...more };
  const checkpoint = await openCheckpoint(openFileList([file]), { config: whole });
  return openWeights(checkpoint, (vocabSize) => describeModel(whole, vocabSize));
};

/** Returns the bits of the CPU's logits, with the weights as stored if nothing else is said. */
async function cpuLogits(weights: ModelWeights, tokens: readonly number[], more: EngineConfig = {}): Promise<number[]> {
  const sizes = { maxNumSeqs: 4, numGpuBlocks: 64, maxModelLen: 64, activationDtype: "f32", ...more } as const;
  const backend = await cpuBackend({ most: 1, openHelper: null }).open();
  const engine = configFor(weights.model, sizes, null);
  const runner = (await backend.load({ weights, engine })) as CpuRunner;
  await greedyTokens(runner, tokens, 1);
  const logits = inBits(runner.logits[0] ?? new Float32Array());
  runner.dispose();
  return logits;
}

const isPacked = ({ layout }: LayoutPart) => typeof layout !== "string";

const EMBEDDING = "model.embed_tokens";
const KEYS = "model.layers.0.self_attn.k_proj";

test.each([
  [{ bits: 4, group_size: 32 }, "BF16", () => 4],
  [{ bits: 4, group_size: 64 }, "F16", () => 4],
  [{ bits: 8, group_size: 64, mode: "affine" }, "BF16", () => 8],
  [{ bits: 8, group_size: 128 }, "F16", () => 8],
  [{ bits: 4, group_size: 128 }, "F32", () => 4],
  [{ bits: 8, group_size: 32 }, "F32", () => 8],
  [
    { bits: 4, group_size: 32, [EMBEDDING]: { bits: 8 }, [KEYS]: false },
    "BF16",
    (module: string) => (module === EMBEDDING ? 8 : module === KEYS ? 0 : 4),
  ],
] as const)(
  "MLX's %j with scales in %s has the logits of its values as F32",
  async (quantization, scalesAs, bitsOf) => {
    const { asMlx, asF32 } = packed(bitsOf, quantization.group_size, scalesAs);
    const [mlx, exact] = [await open(asMlx, { quantization, quantization_config: quantization }), await open(asF32)];
    const tokens = [1, 2, 3, 500];
    expect(await lastLogitsReference(mlx, tokens)).toEqual(await lastLogitsReference(exact, tokens));
    const dtype = scalesAs === "F32" ? "f32" : "stored";
    expect(await cpuLogits(mlx, tokens, { dtype })).toEqual(await cpuLogits(exact, tokens, { dtype: "f32" }));
    if (dtype === "f32") return;
    const described = describeModel({ ...config, quantization });
    for (const operation of described.graph.operations) {
      const table =
        operation.type === "linear" ? operation.linear.matrix : operation.type === "head" && operation.table;
      if (table)
        expect(layoutsOf(described, table, "stored").map(isPacked)).toEqual(
          layoutsOf(mlx.model, table, "stored").map(isPacked),
        );
    }
  },
);

test.each([
  [{ quantization: { bits: 3, group_size: 64 } }, '"bits":3'],
  [{ quantization: { bits: 4, group_size: 16 } }, '"group_size":16'],
  [{ quantization: { bits: 4, group_size: 32, mode: "mxfp4" } }, "mxfp4"],
  [{ quantization: { bits: 4, group_size: 64, [KEYS]: { bits: 6 } } }, '"bits":6'],
  [{ quantization_config: { quant_method: "gptq", bits: 4 } }, "gptq"],
  [{ quantization_config: { quant_method: "awq" } }, "awq"],
  [{ quantization_config: { quant_method: "compressed-tensors" } }, "compressed-tensors"],
])("%j is refused, and the GGUF of the same model is named", (more, part) => {
  const refusal = { code: "model_unsupported", message: expect.stringMatching(`${part}.*-GGUF:Q4_K_M`) };
  expect(() => describeModel({ ...config, ...more })).toThrow(expect.objectContaining(refusal));
});

test("scales of another size are named", async () => {
  const { asMlx } = packed(() => 4, 32);
  const refusal = { code: "model_invalid", message: expect.stringContaining(EMBEDDING) };
  await expect(open(asMlx, { quantization: { bits: 4, group_size: 64 } })).rejects.toMatchObject(refusal);
});

test("what is unpacked because of its scales is neither called packed nor multiplied as integers", async () => {
  const { asMlx } = packed(() => 8, 32, "F32");
  const whole = { ...config, quantization: { bits: 8, group_size: 32 } };
  const files = [
    new File([JSON.stringify(whole)], "config.json"),
    new File([read("tokenizer.json")], "tokenizer.json"),
  ];
  const cpu = cpuBackend({ most: 1, openHelper: null });
  const platform = fakePlatform([], { backends: [{ name: "cpu", load: () => Promise.resolve(cpu) }] });
  const service = new EngineHost(platform);
  const transport = { service, died: new Promise<never>(() => undefined), close: () => undefined };
  await using engine = await EngineClient.connect(transport, locateModel([...files, asMlx]), { numGpuBlocks: 64 });
  expect(engine.config).toMatchObject({ dtype: "f32", activationDtype: "f32" });
  expect(engine.model).toMatchObject({ dtype: "f32", mixture: null });
});
