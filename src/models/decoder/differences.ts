// The families of decoders by their config.json's model_type: what each does that Llama doesn't.

import { brief, type JsonFields } from "../../files/json-fields.ts";
import { invalid } from "../config-fields.ts";

export interface Differences {
  /** Fields of Hugging Face's config class that a config.json may leave out. */
  readonly defaults?: Readonly<Record<string, unknown>>;
  /** Where a layer's parts are normalised: their input, their output, or both. ["before"] */
  readonly norms?: "before" | "after" | "both";
  /** How much the stored weights of norms are too small. [0] */
  readonly normOffset?: number;
  /** Whether scores are capped by attn_logit_softcapping. [false, whatever that says] */
  readonly capsScores?: boolean;
  /** Whether the token embedding is multiplied by the root of its width. [false] */
  readonly scaledEmbedding?: boolean;
  /** Norms of queries and keys, head by head or over all heads. [none] */
  readonly headNorms?: "head" | "width";
  /** Their modules' names. [q_norm, k_norm] */
  readonly headNormNames?: readonly [queries: string, keys: string];
  /** Whether they come after the rotation. [false] */
  readonly normAfterRotation?: boolean;
  /** Whether queries, keys and values have a bias, whatever attention_bias says. [false] */
  readonly qkvBias?: boolean;
  /** Whether neighbours (2i, 2i+1) of a head turn together, in every form of the checkpoint. [false] */
  readonly turnsNeighbours?: boolean;
  /** Whether a part of each head may stay unturned: partial_rotary_factor. [false] */
  readonly partialRotation?: boolean;
  /** The context before it was made longer, if the config doesn't say. [none] */
  readonly originalPositions?: number;
  /** Whether layers with a window don't scale their positions. [false] */
  readonly unscaledWindows?: boolean;
  /** Queries, keys and values as one matrix: its module in self_attn. [q_proj, k_proj, v_proj] */
  readonly qkv?: string;
  /** Modules of the feed-forward part, below the layer. [mlp.gate_proj, mlp.up_proj, mlp.down_proj] */
  readonly mlp?: MlpModules;
  /** Field of the feed-forward part's width. [intermediate_size] */
  readonly innerField?: string;
  /** Whether a layer has the window, if the config has no layer_types. [there are no windows] */
  readonly slides?: (layer: number, fields: JsonFields) => boolean;
  /** Whether the positions of a layer are rotated. [all] */
  readonly rotates?: (layer: number, fields: JsonFields, window: number | null) => boolean;
  /** What GGUF files call it. [they have no form of it] */
  readonly gguf?: GgufNames;
}

interface MlpModules {
  /** Null: there is no gate, and the activation is of `up`. */
  readonly gate: string | null;
  /** If it is `gate`, that has the rows of both. */
  readonly up: string;
  readonly down: string;
}

interface GgufNames {
  readonly architecture: string;
  /** Whether neighbours (2i, 2i+1) of its queries' and keys' heads turn together. [false] */
  readonly isInterleaved?: true;
  /** Number of layers of the one model whose scores are scaled by its width a head, not by a head's size. [none] */
  readonly layersOf27B?: number;
  /** The window of a file that has none. [no window] */
  readonly window?: number;
}

const isNth = (n: number, layer: number) => (layer + 1) % n === 0;
const always = () => true;

const GEMMA: Differences = {
  norms: "both",
  normOffset: 1,
  scaledEmbedding: true,
  defaults: {
    num_attention_heads: 8,
    num_key_value_heads: 4,
    head_dim: 256,
    hidden_activation: "gelu_pytorch_tanh",
    query_pre_attn_scalar: 256,
    sliding_window: 4096,
    tie_word_embeddings: true,
  },
};

const QWEN: Differences = {
  defaults: { num_key_value_heads: 32, use_sliding_window: false, sliding_window: 4096 },
  slides: (layer, fields) => layer >= fields.nonNegativeInteger("max_window_layers", 28),
};

const OLMO: Differences = {
  defaults: { rms_norm_eps: 1e-5 },
  norms: "after",
  headNorms: "width",
  slides: (layer, fields) => fields.has("sliding_window") && !isNth(4, layer), // OLMo 2 has no windows
  unscaledWindows: true,
};

const GRANITE_DEFAULTS = { attention_multiplier: 1 };

export const DECODERS: ReadonlyMap<string, Differences> = new Map<string, Differences>([
  ["llama", { gguf: { architecture: "llama", isInterleaved: true } }],
  ["mistral", { defaults: { num_key_value_heads: 8, sliding_window: 4096 }, slides: always }],
  ["qwen2", { ...QWEN, qkvBias: true, gguf: { architecture: "qwen2" } }],
  [
    "qwen3",
    { ...QWEN, headNorms: "head", defaults: { ...QWEN.defaults, head_dim: 128 }, gguf: { architecture: "qwen3" } },
  ],
  [
    "gemma2",
    {
      ...GEMMA,
      defaults: { ...GEMMA.defaults, attn_logit_softcapping: 50, final_logit_softcapping: 30 },
      capsScores: true,
      slides: (layer) => !isNth(2, layer),
      gguf: { architecture: "gemma2", layersOf27B: 46, window: 4096 },
    },
  ],
  [
    "gemma3_text",
    {
      ...GEMMA,
      defaults: {
        ...GEMMA.defaults,
        vocab_size: 262_208,
        max_position_embeddings: 131_072,
        rope_theta: 1e6,
        rope_local_base_freq: 1e4,
      },
      headNorms: "head",
      unscaledWindows: true,
      slides: (layer, fields) =>
        !isNth(fields.positiveInteger(["sliding_window_pattern", "_sliding_window_pattern"], 6), layer),
      gguf: { architecture: "gemma3", layersOf27B: 62 },
    },
  ],
  [
    "smollm3",
    {
      defaults: { num_key_value_heads: 4, rope_theta: 2e6, use_sliding_window: false, tie_word_embeddings: true },
      slides: (layer, fields) => !rotatesInSmolLm3(layer, fields),
      rotates: rotatesInSmolLm3,
      gguf: { architecture: "smollm3", isInterleaved: true },
    },
  ],
  [
    "granite",
    {
      defaults: GRANITE_DEFAULTS,
      rotates: (_, fields) => fields.string("position_embedding_type", "rope") === "rope",
      gguf: { architecture: "granite", isInterleaved: true },
    },
  ],
  [
    "granitemoehybrid",
    {
      defaults: {
        ...GRANITE_DEFAULTS,
        num_local_experts: 8,
        shared_intermediate_size: 1024,
        // All its layers are Mamba's.
        layers_block_type: ["mamba"],
      },
      rotates: (_, fields) => fields.string("position_embedding_type", "none") === "rope",
      innerField: "shared_intermediate_size",
      mlp: { gate: "shared_mlp.input_linear", up: "shared_mlp.input_linear", down: "shared_mlp.output_linear" },
    },
  ],
  [
    "phi3",
    {
      defaults: { rms_norm_eps: 1e-5 },
      originalPositions: 4096,
      slides: always,
      partialRotation: true,
      qkv: "qkv_proj",
      mlp: { gate: "mlp.gate_up_proj", up: "mlp.gate_up_proj", down: "mlp.down_proj" },
      gguf: { architecture: "phi3" },
    },
  ],
  ["olmo2", { ...OLMO, gguf: { architecture: "olmo2" } }],
  ["olmo3", { ...OLMO, defaults: { ...OLMO.defaults, rope_theta: 5e5, sliding_window: 4096 } }],
  [
    "ernie4_5",
    {
      defaults: {
        num_key_value_heads: 2,
        rms_norm_eps: 1e-5,
        rope_theta: 5e5,
        head_dim: 128,
        tie_word_embeddings: true,
      },
      turnsNeighbours: true,
      gguf: { architecture: "ernie4_5" },
    },
  ],
  [
    "exaone4",
    {
      defaults: { num_key_value_heads: 32, rms_norm_eps: 1e-5, sliding_window: 4096 },
      norms: "after",
      headNorms: "head",
      slides: slidesInExaone4,
      rotates: (_, fields, window) => window !== null || !fields.has("sliding_window"),
      gguf: { architecture: "exaone4" },
    },
  ],
  [
    "hunyuan_v1_dense",
    {
      defaults: { rms_norm_eps: 1e-5 },
      headNorms: "head",
      headNormNames: ["query_layernorm", "key_layernorm"],
      normAfterRotation: true,
      gguf: { architecture: "hunyuan-dense" },
    },
  ],
  [
    "arcee",
    {
      defaults: { rms_norm_eps: 1e-5, hidden_act: "relu2" },
      mlp: { gate: null, up: "mlp.up_proj", down: "mlp.down_proj" },
      gguf: { architecture: "arcee", isInterleaved: true },
    },
  ],
  [
    "ministral3",
    {
      defaults: {
        num_key_value_heads: 8,
        rms_norm_eps: 1e-5,
        head_dim: 128,
        rope_parameters: {
          rope_type: "yarn",
          rope_theta: 1e6,
          factor: 16,
          original_max_position_embeddings: 16_384,
          mscale: 1,
          mscale_all_dim: 1,
          llama_4_scaling_beta: 0.1,
        },
      },
      slides: always,
      gguf: { architecture: "mistral3", isInterleaved: true },
    },
  ],
]);

function rotatesInSmolLm3(layer: number, fields: JsonFields): boolean {
  const marks = fields.array("no_rope_layers", null);
  if (marks === null) return !isNth(fields.positiveInteger(["no_rope_layer_interval"], 4), layer);
  const mark = marks[layer];
  if (mark !== 0 && mark !== 1) throw invalid(`no_rope_layers has ${brief(mark)} for layer ${layer}, not 0 or 1`);
  return mark === 1;
}

/** A pattern is a number, or a word of L (local) and G (global) for layers that repeat; the last layer is global then. */
function slidesInExaone4(layer: number, fields: JsonFields): boolean {
  const pattern = fields.get("sliding_window_pattern");
  if (typeof pattern !== "string") return !isNth(fields.positiveInteger(["sliding_window_pattern"], 4), layer);
  return pattern[layer % pattern.length] === "L" && layer + 1 !== fields.get("num_hidden_layers");
}
