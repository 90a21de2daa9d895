// config.json of Qwen3.5's text model, by Hugging Face's names. GGUF files keep some weights in other forms:
// `stored_norm_offset` and `delta_form` say so, which no config.json has.

import { JsonFields } from "../../files/json-fields.ts";
import { CONFIG_FILE } from "../../files/model-folder.ts";
import { invalid, layerTypes, readTaps, refuseGiant, unsupported } from "../config-fields.ts";
import { parseDecoderConfig, type DecoderConfig } from "../decoder/config.ts";
import type { DeltaNet, RotaryAngles } from "../graph.ts";

export interface Qwen35Config extends Omit<DecoderConfig, "layers"> {
  readonly layers: readonly LayerType[];
  readonly angles: RotaryAngles;
  readonly net: NetConfig;
}

type NetConfig = Pick<DeltaNet, "keyHeads" | "valueHeads" | "keyDim" | "valueDim" | "taps" | "headOrder"> & {
  readonly rateForm: DeltaNet["rate"]["form"];
};

const LAYER_TYPES = ["linear_attention", "full_attention"] as const;
type LayerType = (typeof LAYER_TYPES)[number];
/** Beside Llama, what layers of both types have. */
const DIFFERENCES = {
  defaults: { num_key_value_heads: 4, head_dim: 256, partial_rotary_factor: 0.25 },
  normOffset: 1,
  partialRotation: true,
} as const;

/** @throws ChorusError model_invalid or model_unsupported, naming the field */
export function parseQwen35Config(json: unknown): Qwen35Config {
  const fields = new JsonFields(CONFIG_FILE, json);
  if (!fields.boolean("attn_output_gate", true)) throw unsupported("attn_output_gate: false");
  const decoder = parseDecoderConfig({ ...(json as object), layer_types: null }, DIFFERENCES);
  if (decoder.hasQkvBias) throw unsupported("attention_bias: true");
  if (decoder.activation !== "silu") throw unsupported(`hidden_act ${decoder.activation} (known: silu)`);
  const net = readNet(fields);
  const convWidth = 2 * net.keyHeads * net.keyDim + net.valueHeads * net.valueDim;
  refuseGiant(decoder.shape, convWidth);
  const interval = fields.positiveInteger(["full_attention_interval"], 4);
  const layers = layerTypes(fields, decoder.shape.numLayers, LAYER_TYPES, (layer) =>
    (layer + 1) % interval === 0 ? "full_attention" : "linear_attention",
  );
  const angles = decoder.layers[0]?.angles;
  if (!angles || !layers.includes("full_attention")) throw unsupported("no layer of full_attention");
  const numLayers = layers.filter((type) => type === "linear_attention").length;
  const { valueHeads: numHeads, keyDim, valueDim, taps } = net;
  const states = { numLayers, convWidth, convRows: taps - 1, numHeads, keyDim, valueDim };
  return { ...decoder, shape: numLayers === 0 ? decoder.shape : { ...decoder.shape, states }, layers, angles, net };
}

function readNet(fields: JsonFields): NetConfig {
  const [keyHeads, valueHeads] = [
    fields.positiveInteger(["linear_num_key_heads"], 16),
    fields.positiveInteger(["linear_num_value_heads"], 32),
  ];
  if (valueHeads % keyHeads !== 0) {
    throw invalid(`linear_num_value_heads (${valueHeads}) must be a multiple of linear_num_key_heads (${keyHeads})`);
  }
  const dimOf = (name: string) => {
    const size = fields.positiveInteger([name], 128);
    if (size % 4 !== 0) throw unsupported(`${name} ${size}, no multiple of 4`);
    return size;
  };
  const taps = readTaps(fields, "linear_conv_kernel_dim", 4);
  const isGguf = fields.string("delta_form", "hugging_face") === "gguf";
  return {
    keyHeads,
    valueHeads,
    keyDim: dimOf("linear_key_head_dim"),
    valueDim: dimOf("linear_value_head_dim"),
    taps,
    headOrder: isGguf ? "tiled" : "grouped",
    rateForm: isGguf ? "negative" : "log",
  };
}
