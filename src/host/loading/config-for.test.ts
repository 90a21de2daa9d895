import { readFileSync } from "node:fs";

import { expect, test } from "vitest";

import { GgufFolder } from "../../files/gguf/gguf-folder.ts";
import { openFileList } from "../../files/model-files.ts";
import { configOfGguf } from "../../models/config-of-gguf.ts";
import { describeModel } from "../../models/families.ts";
import { mixtureOf } from "../../models/weight-layouts.ts";
import { configFor, draftDtype } from "./config-for.ts";

async function ofGguf(path: string) {
  const name = path.split("/").at(-1) ?? path;
  const files = openFileList([new File([new Uint8Array(readFileSync(`tests/fixtures/gguf/${path}`))], name)]);
  return describeModel(await new GgufFolder(files, name, configOfGguf).readJson("config.json"));
}

const config = JSON.parse(readFileSync("tests/fixtures/llama-tiny/tied/config.json", "utf8")) as object;
const plain = describeModel(config);
const packed = await ofGguf("qwen2-small/qwen2-small.gguf");
const mlx = describeModel({ ...config, quantization: { bits: 4, group_size: 32 } });
const backend = { defaults: () => ({ dtype: "f32" as const }) };

test("weights that a file packs stay so, and others have the backend's format", () => {
  const dtypeOf = (model: typeof plain) => configFor(model, {}, backend).dtype;
  expect([plain, packed, mlx].map(dtypeOf)).toEqual(["f32", "stored", "stored"]);
  expect(configFor(packed, { dtype: "f16" }, backend).dtype).toBe("f16");
});

test("the types of a file are named with their shares of the weights", () => {
  expect([plain, packed, mlx].map(mixtureOf)).toEqual([null, "Q5_0 65%, Q4_0 35%", "MLX 4-bit 82%, BF16 18%"]);
});

test.each([
  [packed, "q8", /packed already \(Q5_0 .*"stored", "f32", "f16"\./],
  [mlx, "q4", /packed already \(MLX 4-bit 82%, BF16 18%\)/],
  [plain, "stored", /plain floats.*"f32", "f16", "q8", "q4"\./],
] as const)("a dtype that weights can't have is refused, and the others are named", (model, dtype, message) => {
  const refusal = { code: "invalid_value", param: "dtype", message: expect.stringMatching(message) };
  expect(() => configFor(model, { dtype }, null)).toThrow(expect.objectContaining(refusal));
});

test("a draft model stays as its file has it, or has the same format", () => {
  const found = [packed, plain].map((model) =>
    (["stored", "f32", "q8"] as const).map((dtype) => draftDtype(model, dtype)),
  );
  expect(found).toEqual([
    ["stored", "stored", "stored"],
    ["f16", "f32", "q8"],
  ]);
});
