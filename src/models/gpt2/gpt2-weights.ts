// A GPT-2 checkpoint's tensors under the model's own names. Linear layers keep Conv1D's layout, [in, out]: y = x W + b.
//
// Checkpoints differ. Names may begin with "transformer."; files saved by old versions also hold the causal masks
// (h.N.attn.bias, h.N.attn.masked_bias: buffers, not weights) and a copy of the tied head (lm_head.weight).

import { ChorusError } from "../../protocol/errors.ts";
import type { Gpt2Config } from "./gpt2-config.ts";
import type { Checkpoint } from "../../files/safetensors.ts";
import type { Tensor } from "../../files/tensor.ts";

/** A norm's or a linear layer's: their shapes are the model's. */
export interface LayerTensors {
  readonly weight: Tensor;
  readonly bias: Tensor;
}

export interface Gpt2LayerWeights {
  /** [nEmbd] */
  readonly ln1: LayerTensors;
  /** [nEmbd, 3 nEmbd]: queries, keys, values. */
  readonly qkv: LayerTensors;
  /** [nEmbd, nEmbd] */
  readonly proj: LayerTensors;
  /** [nEmbd] */
  readonly ln2: LayerTensors;
  /** [nEmbd, nInner] */
  readonly fc: LayerTensors;
  /** [nInner, nEmbd] */
  readonly fcProj: LayerTensors;
}

/** Every tensor, found and checked; read when it is wanted, so that only those in use take memory. */
export interface Gpt2Weights {
  /** The config given, with the vocabulary's size as the checkpoint has it. */
  readonly config: Gpt2Config;
  /** Elements of all weights; a tied head counts once. */
  readonly numParameters: number;
  /** Token embedding, [vocabSize, nEmbd]; also the head, transposed, where that is tied. */
  readonly wte: Tensor;
  /** Position embedding, [nPositions, nEmbd]. */
  readonly wpe: Tensor;
  readonly layers: readonly Gpt2LayerWeights[];
  readonly lnF: LayerTensors;
  /** [vocabSize, nEmbd]; null where the head is tied to wte. */
  readonly lmHead: Tensor | null;
}

type Shapes = ReadonlyMap<string, readonly number[]>;

/**
 * Finds every weight and checks its shape and type; reads none yet.
 * @throws ChorusError model_invalid, naming every tensor that is missing or the one whose shape is wrong;
 * model_unsupported, naming the one of a type that can't be read.
 */
export function loadGpt2Weights(checkpoint: Checkpoint, givenConfig: Gpt2Config): Gpt2Weights {
  const prefix = checkpoint.has("transformer.wte.weight") ? "transformer." : "";
  const nameInFile = (name: string) => (name === "lm_head.weight" ? name : prefix + name);
  const wteShape = checkpoint.has(nameInFile("wte.weight")) ? checkpoint.shape(nameInFile("wte.weight")) : [];
  const config = { ...givenConfig, vocabSize: wteShape[0] || givenConfig.vocabSize };
  const shapes = expectedShapes(config);
  checkTensors(checkpoint, shapes, nameInFile);

  const tensor = (name: string) => checkpoint.tensor(nameInFile(name));
  const pair = (name: string) => ({ weight: tensor(`${name}.weight`), bias: tensor(`${name}.bias`) });
  return {
    config,
    numParameters: countParameters(config),
    wte: tensor("wte.weight"),
    wpe: tensor("wpe.weight"),
    layers: Array.from({ length: config.nLayer }, (_, index) => ({
      ln1: pair(`h.${index}.ln_1`),
      qkv: pair(`h.${index}.attn.c_attn`),
      proj: pair(`h.${index}.attn.c_proj`),
      ln2: pair(`h.${index}.ln_2`),
      fc: pair(`h.${index}.mlp.c_fc`),
      fcProj: pair(`h.${index}.mlp.c_proj`),
    })),
    lnF: pair("ln_f"),
    lmHead: config.tieWordEmbeddings ? null : tensor("lm_head.weight"),
  };
}

/** Elements of all weights; a tied head counts once. */
export function countParameters(config: Gpt2Config): number {
  const sizes = [...expectedShapes(config).values()].map((shape) => shape.reduce((product, size) => product * size, 1));
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Every weight the model needs, by its name without prefix. What else a file holds is not looked at. */
function expectedShapes({ vocabSize, nPositions, nEmbd, nInner, nLayer, tieWordEmbeddings }: Gpt2Config): Shapes {
  const shapes = new Map<string, readonly number[]>();
  const norm = (name: string) => shapes.set(`${name}.weight`, [nEmbd]).set(`${name}.bias`, [nEmbd]);
  const linear = (name: string, inputs: number, outputs: number) =>
    shapes.set(`${name}.weight`, [inputs, outputs]).set(`${name}.bias`, [outputs]);
  shapes.set("wte.weight", [vocabSize, nEmbd]).set("wpe.weight", [nPositions, nEmbd]);
  for (let layer = 0; layer < nLayer; layer++) {
    norm(`h.${layer}.ln_1`);
    linear(`h.${layer}.attn.c_attn`, nEmbd, 3 * nEmbd);
    linear(`h.${layer}.attn.c_proj`, nEmbd, nEmbd);
    norm(`h.${layer}.ln_2`);
    linear(`h.${layer}.mlp.c_fc`, nEmbd, nInner);
    linear(`h.${layer}.mlp.c_proj`, nInner, nEmbd);
  }
  norm("ln_f");
  if (!tieWordEmbeddings) shapes.set("lm_head.weight", [vocabSize, nEmbd]);
  return shapes;
}

/** Missing tensors that an error names: of the wrong model there are hundreds. */
const MOST_NAMED = 8;

function checkTensors(checkpoint: Checkpoint, shapes: Shapes, nameInFile: (name: string) => string): void {
  const missing = [...shapes.keys()].map(nameInFile).filter((name) => !checkpoint.has(name));
  if (missing.length > 0) {
    const few = missing.slice(0, MOST_NAMED).join(", ");
    const more = missing.length > MOST_NAMED ? ` and ${missing.length - MOST_NAMED} more` : "";
    throw new ChorusError(
      "model_invalid",
      `The checkpoint lacks ${missing.length} tensors of this GPT-2: ${few}${more}.`,
      "model.safetensors",
    );
  }
  for (const [name, expected] of shapes) {
    const shape = checkpoint.shape(nameInFile(name));
    if (shape.length !== expected.length || shape.some((size, axis) => size !== expected[axis])) {
      throw new ChorusError(
        "model_invalid",
        `Tensor "${nameInFile(name)}" has shape [${shape.join(", ")}]; the config makes it [${expected.join(", ")}].`,
        "model.safetensors",
      );
    }
  }
}
