// The common fields of the families' config.json.

import { brief, type JsonFields } from "../files/json-fields.ts";
import { mlxPacking, unsupportedQuantisation } from "../files/mlx.ts";
import { CONFIG_FILE } from "../files/model-folder.ts";
import { ChorusError } from "../protocol/errors.ts";
import type { ModelShape } from "../protocol/model-shape.ts";
import type { Activation } from "./graph.ts";

/**
 * Hugging Face's names of activations. "gelu_fast" writes sqrt(2/pi) with ten digits, which is the same number in float32;
 * "gelu_pytorch_tanh" and "gelu_accurate" are "gelu_new" computed elsewhere, "gelu_python" is "gelu".
 */
const ACTIVATIONS: ReadonlyMap<string, Activation> = new Map([
  ["gelu_new", "gelu_tanh"],
  ["gelu_pytorch_tanh", "gelu_tanh"],
  ["gelu_fast", "gelu_tanh"],
  ["gelu_accurate", "gelu_tanh"],
  ["gelu", "gelu_erf"],
  ["gelu_python", "gelu_erf"],
  ["silu", "silu"],
  ["swish", "silu"],
  ["relu2", "relu2"],
]);

/** @throws ChorusError model_unsupported for an activation that has no kernel */
export function activationOf(fields: JsonFields, name: string, fallback: string): Activation {
  const value = fields.string(name, fallback);
  const activation = ACTIVATIONS.get(value);
  if (activation === undefined) {
    throw unsupported(`${name} ${JSON.stringify(value)} (known: ${[...ACTIVATIONS.keys()].join(", ")})`);
  }
  return activation;
}

/** Returns a size that every config of the family has. @throws ChorusError model_invalid where it is absent */
export function requiredSize(fields: JsonFields, name: string): number {
  const size = fields.positiveInteger([name], null);
  if (size === null) throw invalid(`${name} is missing`);
  return size;
}

/**
 * @param byDefault its type if the config has no layer_types
 * @throws ChorusError model_unsupported for a type that isn't known, model_invalid where there is not one for each layer
 */
export function layerTypes<Type extends string>(
  fields: JsonFields,
  numLayers: number,
  known: readonly Type[],
  byDefault: (layer: number) => Type,
): readonly Type[] {
  const types = fields.array("layer_types", fields.array("layers_block_type", null)) as readonly Type[] | null;
  const other = types?.find((type) => !known.includes(type));
  if (other !== undefined) throw unsupported(`layer_types ${brief(other)} (known: ${known.join(", ")})`);
  if (types && types.length !== numLayers)
    throw invalid(`layer_types has ${types.length} entries for num_hidden_layers ${numLayers}`);
  return types ?? Array.from({ length: numLayers }, (_, layer) => byDefault(layer));
}

/** More layers than any model here has. Looking for their tensors in a checkpoint would take forever. */
const MAX_LAYERS = 1024;
const LARGEST_SIZE = 2 ** 24;

/** @param innerSize width of the feed-forward part */
export function refuseGiant(shape: ModelShape, innerSize: number): void {
  const { numLayers, hiddenSize, numHeads, headDim, vocabSize, maxPositions } = shape;
  const sizes = [hiddenSize, innerSize, numHeads * headDim, vocabSize, maxPositions];
  if (numLayers <= MAX_LAYERS && sizes.every((size) => size <= LARGEST_SIZE)) return;
  throw invalid(
    `no model has ${numLayers} layers of width ${hiddenSize} and ${innerSize}, ${numHeads} heads of ${headDim}, ` +
      `${vocabSize} tokens and ${maxPositions} positions`,
  );
}

/** More than any model here has: each row reads as many. */
const MAX_TAPS = 64;

/** Reads the number of rows that a convolution adds up. */
export function readTaps(fields: JsonFields, name: string, fallback: number): number {
  const taps = fields.positiveInteger([name], fallback);
  if (taps < 2 || taps > MAX_TAPS) throw invalid(`no convolution has ${taps} rows (${name})`);
  return taps;
}

export function refuseQuantised(fields: JsonFields): void {
  if (mlxPacking({ quantization: fields.get("quantization") }) !== null || !fields.has("quantization_config")) return;
  const method = fields.object<Record<string, unknown>>("quantization_config", {})["quant_method"];
  const what = `quantization_config${method === undefined ? "" : ` (${brief(method)})`}`;
  throw new ChorusError("model_unsupported", unsupportedQuantisation(what, "4 or 8 bits"), CONFIG_FILE);
}

export function invalid(what: string): ChorusError {
  return new ChorusError("model_invalid", `${CONFIG_FILE}: ${what}.`, CONFIG_FILE);
}

export function unsupported(what: string): ChorusError {
  return new ChorusError(
    "model_unsupported",
    `This model's config.json asks for ${what}, which is not supported.`,
    CONFIG_FILE,
  );
}
