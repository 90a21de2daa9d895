// Weights as MLX packs them, in safetensors:
//
//   NAME.weight  U32 [rows, columns * bits / 32]: weight i of a word is its bits from i * bits on
//   NAME.scales, NAME.biases  [rows, columns / group]
//
//   value = scale * q + bias. config.json's "quantization" has bits and group, and names the modules that differ.

import { isObject } from "../protocol/json-object.ts";
import { brief, unsupportedFile } from "./json-fields.ts";
import { CONFIG_FILE } from "./model-folder.ts";
import { packed } from "./packing.ts";
import type { PackedTensor } from "./tensor.ts";

const BITS: readonly unknown[] = [4, 8];
const GROUPS: readonly unknown[] = [32, 64, 128];

interface Sizes {
  readonly bits: 4 | 8;
  readonly group: 32 | 64 | 128;
}

/** Returns how a module's weights are packed; null: config.json says that they are not. */
export type MlxPacking = (module: string) => Sizes | null;

/** Returns that packing, and its name. */
export function mlxStoredAs({ bits, group }: Sizes): Required<Pick<PackedTensor, "type" | "packing">> {
  return { type: `MLX ${bits}-bit`, packing: packed(bits, 0, group, { floats: "float", hasMinimum: true }) };
}

/**
 * Reads config.json's "quantization"; null without one.
 * @throws ChorusError model_unsupported for other bits, groups or modes
 */
export function mlxPacking(config: unknown): MlxPacking | null {
  const json = isObject(config) ? config["quantization"] : null;
  if (!isObject(json)) return null;
  const common = readPacking(json);
  const others = Object.entries(json).filter((entry): entry is [string, Record<string, unknown>] => isObject(entry[1]));
  const own = new Map(others.map(([module, packing]) => [module, readPacking({ ...json, ...packing })]));
  return (module) => (json[module] === false ? null : (own.get(module) ?? common));
}

function readPacking({ bits, group_size: group, mode = "affine" }: Record<string, unknown>): Sizes {
  if (BITS.includes(bits) && GROUPS.includes(group) && mode === "affine") return { bits, group } as Sizes;
  const what = `quantization ${brief({ bits, group_size: group, mode })}`;
  throw unsupportedFile(CONFIG_FILE, unsupportedQuantisation(what, "4 or 8 bits in groups of 32, 64 or 128"));
}

/** Returns why packed weights are refused, and what to take instead. */
export function unsupportedQuantisation(what: string, known: string): string {
  const instead = 'Take a GGUF file of the same model ("owner/name-GGUF:Q4_K_M").';
  return `This model's config.json asks for ${what}, which is not supported: weights may be plain, or MLX's of ${known}. ${instead}`;
}
