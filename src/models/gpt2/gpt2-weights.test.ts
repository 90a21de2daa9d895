import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parseGpt2Config, type Gpt2Config } from "./gpt2-config.ts";
import { loadGpt2Weights } from "./gpt2-weights.ts";
import { Checkpoint, openSafetensors } from "../../files/safetensors.ts";
import { readF32, type Tensor } from "../../files/tensor.ts";

const readConfig = (folder: string): Gpt2Config =>
  parseGpt2Config(JSON.parse(readFileSync(`${folder}/config.json`, "utf8")));
const readCheckpoint = (path: string): Promise<Checkpoint> =>
  openSafetensors(new Blob([new Uint8Array(readFileSync(path))]));
const sizeOf = ({ rows, columns }: Tensor): [number, number] => [rows, columns];

const tiny = readConfig("fixtures/gpt2-tiny");

/** A checkpoint of zeros with these shapes. */
function zeros(shapes: Record<string, readonly number[]>): Checkpoint {
  let end = 0;
  const entries = Object.entries(shapes).map(([name, shape]) => {
    const begin = end;
    end += 4 * shape.reduce((product, size) => product * size, 1);
    return { name, dtype: "F32", shape, begin, end };
  });
  return new Checkpoint(entries, (from, to) => Promise.resolve(new Uint8Array(to - from)));
}

/** The shapes of the fixture's tensors, to be changed. */
const tinyCheckpoint = await readCheckpoint("fixtures/gpt2-tiny/model.safetensors");
function tinyShapes(): Record<string, readonly number[]> {
  return Object.fromEntries(tinyCheckpoint.names().map((name) => [name, tinyCheckpoint.shape(name)]));
}

describe("loadGpt2Weights", () => {
  const files = ["model", "model.legacy-buffers", "model.hub-noprefix"].map(
    (name) => `fixtures/gpt2-tiny/${name}.safetensors`,
  );

  test.each(files)("%s holds the same weights, whatever its names and buffers", async (path) => {
    const weights = loadGpt2Weights(await readCheckpoint(path), tiny);
    const expected = (name: string) => readF32(tinyCheckpoint.tensor(`transformer.${name}`));
    expect(await readF32(weights.wte)).toEqual(await expected("wte.weight"));
    expect(await readF32(weights.wpe)).toEqual(await expected("wpe.weight"));
    const qkv = weights.layers[1]?.qkv;
    expect(qkv && (await readF32(qkv.weight))).toEqual(await expected("h.1.attn.c_attn.weight"));
    expect(qkv && (await readF32(qkv.bias))).toEqual(await expected("h.1.attn.c_attn.bias"));
    expect(await readF32(weights.lnF.bias)).toEqual(await expected("ln_f.bias"));
    expect(weights.lmHead).toBeNull();
    // 512 * 64 + 128 * 64 embeddings, 2 layers of 12 * 64^2 + 13 * 64, one norm.
    expect(weights.numParameters).toBe(40960 + 2 * (12 * 64 ** 2 + 13 * 64) + 128);
  });

  test("a layer's tensors have the shapes they say they have", () => {
    const [layer] = loadGpt2Weights(tinyCheckpoint, tiny).layers;
    const pairs = layer && [layer.ln1, layer.qkv, layer.proj, layer.ln2, layer.fc, layer.fcProj];
    expect(pairs?.map(({ weight, bias }) => [sizeOf(weight), sizeOf(bias)])).toEqual([
      [
        [1, 64],
        [1, 64],
      ],
      [
        [64, 192],
        [1, 192],
      ],
      [
        [64, 64],
        [1, 64],
      ],
      [
        [1, 64],
        [1, 64],
      ],
      [
        [64, 256],
        [1, 256],
      ],
      [
        [256, 64],
        [1, 64],
      ],
    ]);
  });

  test.each(["fixtures/gpt2-mid", "public/models/chorus-chat"])(
    "%s, in halves, loads to finite numbers",
    async (folder) => {
      const config = readConfig(folder);
      const weights = loadGpt2Weights(await readCheckpoint(`${folder}/model.safetensors`), config);
      expect(weights.config).toEqual(config);
      expect(weights.layers.length).toBe(config.nLayer);
      expect((await readF32(weights.wte)).length).toBe(config.vocabSize * config.nEmbd);
      expect((await readF32(weights.wpe)).every(Number.isFinite)).toBe(true);
    },
  );

  test("the vocabulary's size is the embedding's, not the config's", () => {
    const weights = loadGpt2Weights(tinyCheckpoint, { ...tiny, vocabSize: 500 });
    expect(weights.config.vocabSize).toBe(512);
  });

  test("an untied head is read where the config says that it is untied", () => {
    const untied = { ...tiny, tieWordEmbeddings: false };
    const weights = loadGpt2Weights(zeros({ ...tinyShapes(), "lm_head.weight": [512, 64] }), untied);
    expect(weights.lmHead && sizeOf(weights.lmHead)).toEqual([512, 64]);
    expect(() => loadGpt2Weights(zeros(tinyShapes()), untied)).toThrow(/lacks 1 tensors.*lm_head\.weight/);
  });

  test("every missing tensor is named", () => {
    const { "transformer.h.0.ln_1.bias": _, "transformer.h.1.mlp.c_fc.weight": __, ...shapes } = tinyShapes();
    expect(() => loadGpt2Weights(zeros(shapes), tiny)).toThrow(
      /transformer\.h\.0\.ln_1\.bias, transformer\.h\.1\.mlp\.c_fc\.weight/,
    );
    expect(() => loadGpt2Weights(zeros({ x: [1] }), tiny)).toThrow(/wte\.weight, wpe\.weight/);
  });

  test("of many missing tensors the first few are named, so that the message can be read", () => {
    const load = () => loadGpt2Weights(zeros(tinyShapes()), { ...tiny, nLayer: 99 });
    expect(load).toThrow(/lacks \d+ tensors.*transformer\.h\.2\.ln_1\.weight.* and \d+ more\.$/);
    expect(load).toThrow(/^.{0,500}$/);
  });

  test("a tensor of another shape is named with both shapes", () => {
    const shapes = { ...tinyShapes(), "transformer.h.0.attn.c_attn.weight": [192, 64] };
    expect(() => loadGpt2Weights(zeros(shapes), tiny)).toThrow(
      /h\.0\.attn\.c_attn\.weight" has shape \[192, 64\].*\[64, 192\]/,
    );
  });

  test("a position embedding shorter than the config says is refused", () => {
    const shapes = { ...tinyShapes(), "transformer.wpe.weight": [64, 64] };
    expect(() => loadGpt2Weights(zeros(shapes), tiny)).toThrow(/wpe\.weight/);
  });
});
