// Makes a small model of a model's own first layers: its steps can be checked quickly.

import { rowsFrom } from "../files/rows-from.ts";
import { readBy, type Attention, type Graph, type Matrix, type Operation, type Value, type Weight } from "./graph.ts";
import type { ModelWeights } from "./model-weights.ts";

/**
 * Returns the graph without most of its layers: the first layer stays, and the first of each other attention window. Values
 * and weights are the graph's own. Returns null if the layers can't be recognised.
 */
export function fewLayers({ operations, values }: Graph): Graph | null {
  const attentions = operations.flatMap((operation, at) => (operation.type === "attention" ? [{ operation, at }] : []));
  const [embed] = operations;
  const end = endOfLayers({ operations, values });
  if (embed?.type !== "embed" || end < 0) return null;
  // A layer begins with the last operation before its attention that reads the residual stream.
  const starts = attentions.map(({ at }) =>
    operations.findLastIndex((operation, i) => i < at && "input" in operation && operation.input === embed.output),
  );
  const layers = attentions.map(({ operation }, i) => ({ operation, from: starts[i] ?? -1, to: starts[i + 1] ?? end }));
  const windows = new Set<Attention["window"]>();
  const kept: Operation[] = [embed];
  for (const { operation, from, to } of layers) {
    if (from < 1 || to < from) return null;
    if (windows.has(operation.window ?? null)) continue;
    windows.add(operation.window ?? null);
    kept.push(...operations.slice(from, to));
  }
  kept.push(...operations.slice(end));
  return readsOnlyWhatIsWritten(kept) ? { operations: kept, values } : null;
}

/** Returns the graph without its layers: logits of the embedding, which need no cache. Null if the layers can't be recognised. */
export function withoutLayers({ operations, values }: Graph): Graph | null {
  const end = endOfLayers({ operations, values });
  const kept = [...operations.slice(0, 1), ...operations.slice(end)];
  return end > 0 && readsOnlyWhatIsWritten(kept) ? { operations: kept, values } : null;
}

/**
 * Returns a model with the graph's operations and only some tokens: its token i is `tokens[i]` of the whole model. Its
 * weights are read from the whole model's.
 */
export function withFewTokens(whole: ModelWeights, graph: Graph, tokens: readonly number[]): ModelWeights {
  const tables = new Map<Weight, Matrix>();
  const small = (table: Matrix): Matrix => {
    const known = tables.get(table) ?? { ...table, outputs: tokens.length };
    tables.set(table, known);
    return known;
  };
  let numLayers = 0;
  let numConvs = 0;
  let numStates = 0;
  const operations = graph.operations.map((operation): Operation => {
    if (operation.type === "attention") return { ...operation, layer: numLayers++ };
    if (operation.type === "shortConv") return { ...operation, layer: numConvs++ };
    if (operation.type === "deltaNet") return { ...operation, layer: numStates++ };
    return operation.type === "embed" || operation.type === "head"
      ? { ...operation, table: small(operation.table) }
      : operation;
  });
  const { model } = whole;
  const { convs, states } = model.shape;
  const shape = {
    ...model.shape,
    numLayers: numLayers + numConvs + numStates,
    ...(convs && { convs: { ...convs, numLayers: numConvs } }),
    ...(states && { states: { ...states, numLayers: numStates } }),
    vocabSize: tokens.length,
  };
  const wholeTable = new Map([...tables].map(([table, few]) => [few as Weight, table]));
  return {
    model: { ...model, shape, graph: { operations, values: graph.values } },
    file: whole.file,
    numParameters: whole.numParameters,
    tensor(weight) {
      const table = wholeTable.get(weight);
      const tensor = whole.tensor(table ?? weight);
      return table ? rowsFrom([tensor], tokens.length, (i) => ({ tensor, row: tokens[i] ?? 0 })) : tensor;
    },
  };
}

/** Returns the index of the first operation after the layers: its output has a row per sample; -1 without one. */
function endOfLayers({ operations, values }: Graph): number {
  return operations.findIndex((one) => "output" in one && values[one.output]?.height === "samples");
}

function readsOnlyWhatIsWritten(operations: readonly Operation[]): boolean {
  const written = new Set<Value>();
  return operations.every((operation) => {
    if (!readBy(operation).every((value) => written.has(value))) return false;
    if ("output" in operation) {
      if ("addsToOutput" in operation && operation.addsToOutput && !written.has(operation.output)) return false;
      written.add(operation.output);
    }
    return true;
  });
}
