import type { Checkpoint } from "../files/checkpoint.ts";
import { asColumn, asVector, joinRows, rowsFrom } from "../files/rows-from.ts";
import { rowsOf, storedAs, type Tensor } from "../files/tensor.ts";
import { ChorusError } from "../protocol/errors.ts";
import { weightsOf, type HeadOrder, type TensorRows, type Weight } from "./graph.ts";
import type { Model } from "./model.ts";

/** Most missing tensors that an error names: a wrong model lacks hundreds. */
const MAX_NAMED = 8;

/** A model and its checkpoint: every tensor found and checked, none read yet. */
export interface ModelWeights {
  /** The checkpoint's file, for error messages. */
  readonly file: string;
  /** The model with the vocabulary of its checkpoint. */
  readonly model: Model;
  /** Number of elements of all weights; a tied head counts once. */
  readonly numParameters: number;
  /** Returns a tensor to be read later; several tensors are joined by rows. */
  tensor(weight: Weight): Tensor;
}

/**
 * Finds every weight of a model and checks its shape and type.
 * @param describe returns the model for the checkpoint's vocabulary size, or for the config's
 * @throws ChorusError model_invalid, naming every tensor that is missing or the one whose shape is wrong;
 * model_unsupported, naming the one of a type that can't be read
 */
export function openWeights(checkpoint: Checkpoint, describe: (vocabSize?: number) => Model): ModelWeights {
  let model = describe();
  const nameInFile = namesIn(checkpoint, model);
  const table = nameInFile(tableName(model));
  const vocabSize = checkpoint.has(table) ? checkpoint.shape(table)[0] : undefined;
  if (vocabSize && vocabSize !== model.shape.vocabSize) model = describe(vocabSize);
  checkTensors(checkpoint, model, nameInFile);
  if (model.mlxGraph && isOfMlx(checkpoint, model, nameInFile)) model = { ...model, graph: model.mlxGraph };
  const open = new Map<Weight, Tensor>();
  const openInOrder = ({ name, shape, within, heads }: TensorRows) => {
    const all = checkpoint.tensor(nameInFile(name));
    const tensor = within ? rowsOf(all, within.firstRow, shape[0] ?? 0) : all;
    const order = model.gguf?.isInterleaved(name) ? { inHalves: 0, rows: Infinity } : heads;
    return order ? inHalves(tensor, model.shape.headDim, order) : tensor;
  };
  for (const weight of weightsOf(model.graph)) {
    open.set(weight, joinRows(weight.tensors.map(openInOrder)));
  }
  model = { ...model, storedAs: (name) => storedAs(checkpoint.tensor(nameInFile(name))) };
  const tensor = (weight: Weight) => openTensor(open, weight);
  return { file: checkpoint.file, model, numParameters: countParameters(model), tensor };
}

export function countParameters({ graph }: Model): number {
  const elements = (shape: readonly number[]) => shape.reduce((product, size) => product * size, 1);
  return weightsOf(graph)
    .flatMap(({ tensors }) => tensors)
    .reduce((sum, { shape }) => sum + elements(shape), 0);
}

function openTensor(open: ReadonlyMap<Weight, Tensor>, weight: Weight): Tensor {
  const tensor = open.get(weight);
  if (!tensor) throw new Error(`${weight.tensors[0]?.name} is no weight of this graph`);
  return tensor;
}

function tableName({ graph }: Model): string {
  const name = graph.operations.find(({ type }) => type === "embed");
  return (name?.type === "embed" ? name.table.tensors[0]?.name : undefined) ?? "";
}

/** Returns a function from a graph's names to the file's: by the first prefix under which the file has the token embedding. */
function namesIn(checkpoint: Checkpoint, model: Model): (name: string) => string {
  const { gguf } = model;
  if (gguf) return (name) => gguf.nameOf(name);
  const table = tableName(model);
  const prefixed = model.tensorPrefixes.map(
    ([own, inFile]) =>
      (name: string) =>
        name.startsWith(own) ? inFile + name.slice(own.length) : name,
  );
  const nameWith = prefixed.find((candidate) => checkpoint.has(candidate(table))) ?? ((name) => name);
  return (name) => (checkpoint.has(nameWith(name)) || !checkpoint.has(name) ? nameWith(name) : name);
}

function checkTensors(checkpoint: Checkpoint, { family, graph }: Model, nameInFile: (name: string) => string): void {
  const tensors = weightsOf(graph).flatMap((weight) => weight.tensors);
  const missing = tensors.map(({ name }) => nameInFile(name)).filter((name) => !checkpoint.has(name));
  if (missing.length > 0) {
    const few = missing.slice(0, MAX_NAMED).join(", ");
    const more = missing.length > MAX_NAMED ? ` and ${missing.length - MAX_NAMED} more` : "";
    const text = `The checkpoint lacks ${missing.length} tensors of this ${family} model: ${few}${more}.`;
    throw new ChorusError("model_invalid", text, checkpoint.file);
  }
  const known = new Set(tensors.map(({ name }) => name));
  for (const { name, shape: own, within } of tensors) {
    const bias = name.replace(/weight$/, "bias");
    if (!known.has(bias) && checkpoint.has(nameInFile(bias))) {
      const text = `Tensor "${nameInFile(bias)}" is a bias that this ${family} model does not have.`;
      throw new ChorusError("model_unsupported", text, checkpoint.file);
    }
    const whole = within ? [within.numRows, ...own.slice(1)] : own;
    // GGUF files leave axes of one out: those of a convolution's kernel.
    const axesOf = (axes: readonly number[]) => (own.length > 2 ? axes.filter((size) => size !== 1) : axes);
    const [expected, shape] = [axesOf(whole), axesOf(checkpoint.shape(nameInFile(name)))];
    if (shape.length === expected.length && shape.every((size, axis) => size === expected[axis])) continue;
    throw new ChorusError(
      "model_invalid",
      `Tensor "${nameInFile(name)}" has shape [${shape.join(", ")}]; the config makes it [${expected.join(", ")}].`,
      checkpoint.file,
    );
  }
}

/** MLX has the taps of kernels on the middle axis, and 1 on the last, whatever else it packs. */
function isOfMlx(checkpoint: Checkpoint, { graph }: Model, nameInFile: (name: string) => string): boolean {
  const kernels = weightsOf(graph).flatMap(({ tensors }) => tensors.filter(({ shape }) => shape.length === 3));
  return kernels.some(({ name }) => checkpoint.shape(nameInFile(name)).at(-1) === 1);
}

/** Returns a matrix, or a bias, whose heads have their rows in halves, as the graph turns them. */
function inHalves(tensor: Tensor, headDim: number, order: HeadOrder): Tensor {
  if (tensor.rows === 1) return asVector(inHalves(asColumn(tensor), headDim, order));
  const half = headDim / 2;
  const turned = order.inHalves / 2;
  return rowsFrom([tensor], tensor.rows, (row) => {
    if (row >= order.rows) return { tensor, row };
    const inHead = row % headDim;
    const [pair, side] = [inHead % half, Math.floor(inHead / half)];
    return { tensor, row: row - inHead + (pair < turned ? pair + side * turned : 2 * pair + side) };
  });
}
