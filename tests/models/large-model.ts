// GPT-2 of random weights in f32, as files to be served: large, for what is measured while it loads.

import { makeRandomModel } from "../../lab/model/random-model.ts";
import type { ModelSize } from "../../lab/model/model-sizes.ts";
import { float16ToFloat32 } from "../../src/files/half.ts";
import { WEIGHTS_FILE, WEIGHTS_INDEX_FILE } from "../../src/files/model-folder.ts";
import {
  encodeSafetensorsHeader,
  headerEnd,
  parseSafetensorsHeader,
  type TensorEntry,
} from "../../src/files/safetensors-header.ts";
import { asciiTokenizer } from "./ascii-tokenizer.ts";

export interface LargeModel {
  readonly files: ReadonlyMap<string, Uint8Array<ArrayBuffer>>;
  readonly weightBytes: number;
  readonly largestTensorBytes: number;
}

/** The weights are in one file, or in `numShards` files of about the same size. */
export async function makeLargeModel(size: ModelSize, numShards = 1): Promise<LargeModel> {
  const [config, , weights] = makeRandomModel(size, 1);
  if (!config || !weights) throw new Error("A random model has config.json, tokenizer.json and its weights.");
  const halves = await weights.arrayBuffer();
  const bytes = new Uint8Array(halves);
  const header = parseSafetensorsHeader(
    bytes.subarray(0, headerEnd(bytes, bytes.length, WEIGHTS_FILE)),
    bytes.length,
    WEIGHTS_FILE,
  );
  const entries = header.entries.map((entry) => ({
    ...entry,
    dtype: "F32",
    begin: 2 * entry.begin,
    end: 2 * entry.end,
  }));
  const weightBytes = Math.max(...entries.map(({ end }) => end));
  const data = new Uint8Array(
    float16ToFloat32(new Uint16Array(halves.slice(header.dataBegin, header.dataBegin + weightBytes / 2))).buffer,
  );

  const json = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
  const files = new Map([
    ["config.json", new Uint8Array(await config.arrayBuffer())],
    ["tokenizer.json", json(asciiTokenizer(size.vocabSize))],
  ]);
  const weightMap: Record<string, string> = {};
  for (let shard = 0; shard < numShards; shard++) {
    const tensors = entries.filter(({ begin }) => Math.floor((begin * numShards) / weightBytes) === shard);
    const first = number5(shard + 1);
    const file = numShards === 1 ? WEIGHTS_FILE : `model-${first}-of-${number5(numShards)}.safetensors`;
    files.set(file, shardOf(tensors, data));
    for (const { name } of tensors) weightMap[name] = file;
  }
  if (numShards > 1) files.set(WEIGHTS_INDEX_FILE, json({ weight_map: weightMap }));
  return { files, weightBytes, largestTensorBytes: Math.max(...entries.map(({ begin, end }) => end - begin)) };
}

/** Returns the header of tensors that lie one after the other in `data`. */
function shardOf(tensors: readonly TensorEntry[], data: Uint8Array): Uint8Array<ArrayBuffer> {
  const [begin = 0, end = 0] = [tensors[0]?.begin, tensors.at(-1)?.end];
  const header = encodeSafetensorsHeader(tensors);
  const file = new Uint8Array(header.length + end - begin);
  file.set(header);
  file.set(data.subarray(begin, end), header.length);
  return file;
}

const number5 = (value: number) => String(value).padStart(5, "0");
