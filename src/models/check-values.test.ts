import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

import { float16ToFloat32 } from "../files/half.ts";
import { openSafetensors } from "../files/safetensors.ts";
import { FAMILY_FIXTURES } from "../../tests/models/family-fixtures.ts";
import { readFixture } from "../../tests/models/fixtures.ts";
import { openGgufFixture } from "../../tests/models/gguf-fixture.ts";
import { openGgufWeights } from "../../tests/models/gguf-weights.ts";
import { checkValues } from "./check-values.ts";
import { describeModel } from "./families.ts";
import { openWeights } from "./model-weights.ts";

const whole = readFileSync("tests/fixtures/gpt2-tiny/model.safetensors");
const headerBytes = 8 + whole.readUInt32LE(0);

async function weightsIn(bytes: Buffer) {
  const config: unknown = JSON.parse(readFileSync("tests/fixtures/gpt2-tiny/config.json", "utf8"));
  const checkpoint = await openSafetensors(new Blob([Uint8Array.from(bytes)]));
  return openWeights(checkpoint, (vocabSize) => describeModel(config, vocabSize));
}

it.each(FAMILY_FIXTURES)("takes the weights of %s", async (name) => {
  await checkValues((await readFixture(name)).weights());
});

it("takes the embedded model's weights", async () => {
  const folder = "public/models/chorus-chat";
  const config: unknown = JSON.parse(readFileSync(`${folder}/config.json`, "utf8"));
  const checkpoint = await openSafetensors(new Blob([Uint8Array.from(readFileSync(`${folder}/model.safetensors`))]));
  await checkValues(openWeights(checkpoint, (vocabSize) => describeModel(config, vocabSize)));
});

it.each([1, 2, 3])("refuses a file that was resumed %d bytes off", async (off) => {
  const resumed = headerBytes + 40_000;
  const bytes = Buffer.concat([whole.subarray(0, resumed), whole.subarray(resumed + off), Buffer.alloc(off)]);
  await expect(checkValues(await weightsIn(bytes))).rejects.toMatchObject({ code: "model_invalid" });
});

it.each(["llama-mix", "qwen3-q8", "gemma3-q4", "gpt2-q5", "qwen2-small"])("takes packed weights: %s", async (set) => {
  await checkValues(await openGgufFixture(set));
});

it.each([1, 2, 3])("refuses a GGUF file that was resumed %d bytes off, and names it", async (off) => {
  const file = "qwen3-q8.gguf";
  const bytes = Uint8Array.from(readFileSync(`tests/fixtures/gguf/qwen3-q8/${file}`));
  const resumed = Math.floor(bytes.length / 2);
  bytes.copyWithin(resumed, resumed + off);
  const damaged = await openGgufWeights(new File([bytes], file));
  await expect(checkValues(damaged)).rejects.toMatchObject({ code: "model_invalid", param: file });
});

it.each(["ff", "text"])("refuses a file filled with something else: %s", async (what) => {
  const bytes = Buffer.from(whole);
  if (what === "ff") bytes.fill(0xff, headerBytes);
  else bytes.fill("Not found. ", headerBytes);
  const refused = checkValues(await weightsIn(bytes));
  if (what === "ff")
    await expect(refused).rejects.toMatchObject({ message: expect.stringContaining("are not finite") as string });
  else await expect(refused).rejects.toMatchObject({ code: "model_invalid" });
});

it("knows halves at the wrong place by their infinities", () => {
  const random = Uint16Array.from({ length: 4096 }, (_, i) => (Math.imul(i + 1, 0x9e3779b1) >>> 13) & 0xffff);
  const share = float16ToFloat32(random).filter((value) => !Number.isFinite(value)).length / random.length;
  expect(share).toBeGreaterThan(1 / 64);
});
