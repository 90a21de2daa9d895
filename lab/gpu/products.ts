// The first load's choice of kernels, with its measurements: every candidate is timed on a model's widest products, and must
// give the same bits as the others.

import type { TuningStore } from "../../src/backends/backend.ts";
import { openDevice, type OpenedDevice } from "../../src/backends/gpu/device.ts";
import { kernelTraits } from "../../src/backends/gpu/kernel-style.ts";
import { tuneMatmuls, tuningKey } from "../../src/backends/gpu/matmul-tuning.ts";
import { matmulChoices, defaultMatmuls, type MatmulVariant } from "../../src/backends/gpu/matmul-variants.ts";
import { defaultDtype } from "../../src/backends/gpu/default-dtype.ts";
import { openSafetensors } from "../../src/files/safetensors.ts";
import { describeModel } from "../../src/models/families.ts";
import { openWeights, type ModelWeights } from "../../src/models/model-weights.ts";
import type { BenchContext } from "../page/bench-context.ts";
import type { SectionFindings } from "../report/bench-result.ts";
import { differingWords, readBuffer } from "../../tests/gpu/buffers.ts";
import { prepareProducts, type PreparedProducts } from "../../tests/gpu/prepared-products.ts";
import { WRONG, type Home } from "./home.ts";
import { timePackedProducts } from "./packed-products.ts";
import type { Part } from "./part.ts";

/** Rows for a kernel without a limit of rows, as in the tuning. */
const MAX_ROWS = 64;

interface TimedVariant {
  readonly name: string;
  readonly rows: number;
  ms: number;
  /** Words of y that differ from the first variant's. */
  readonly differing: number;
}

export function productsPart({ gpu, tuning }: Home): Part {
  return {
    id: "products",
    title: "Kernels to choose from",
    about:
      "Every kernel that the first load may choose for a class of rows, on the model's widest products with the norm before " +
      "them, layer after layer. The fastest is taken. All of them must write the same bits. Last, the fastest on packed weights.",
    needsModel: false,
    async run(context) {
      const opened = await openDevice(gpu);
      try {
        const weights = await weightsOf(context);
        const choices = matmulChoices(kernelTraits(opened));
        const dtype = context.options.dtype ?? defaultDtype(weights.model, opened);
        if (choices.every(({ length }) => length === 1)) {
          context.note("There is nothing to choose: a software adapter has one kernel for each class of rows.");
          return { tables: [] };
        }
        const key = tuningKey(opened.adapterName, weights.model, dtype);
        const prepared = await prepareProducts(opened, weights, { maxRows: MAX_ROWS, dtype });
        try {
          const meter = variantMeter(opened.device, prepared, context);
          // Nothing is stored: a smaller model may have the same key.
          const store = { ...tuning, load: () => Promise.resolve(undefined) };
          const { variants: chosen } = await tuneMatmuls(choices, key, store, meter.measure);
          const classes = choices.map((choice) => choice.flatMap((variant) => meter.timed(variant) ?? []));
          const names = chosen.map(({ name }) => name);
          const findings = resultOf(choices, classes, prepared.weightBytes, names);
          const packed = await timePackedProducts(opened, weights, chosen, MAX_ROWS, context);
          return { ...findings, tables: [...findings.tables, ...packed] };
        } catch (error) {
          // Otherwise engines would measure again, which took too long already.
          await saveDefaultKernels(opened, tuning, key);
          throw error;
        } finally {
          prepared.destroy();
        }
      } finally {
        opened.close();
      }
    },
  };
}

/** Stores the default kernels as the fastest: engines then don't measure them. */
export async function saveDefaultKernels(opened: OpenedDevice, tuning: TuningStore, key: string): Promise<void> {
  const names = defaultMatmuls(kernelTraits(opened)).map(({ name }) => name);
  await tuning.save(key, names);
}

async function weightsOf({ source }: BenchContext): Promise<ModelWeights> {
  const files = new Map(Array.isArray(source) ? source.map((file) => [file.name, file]) : []);
  const [config, weights] = [files.get("config.json"), files.get("model.safetensors")];
  if (!config || !weights) throw new Error("a model that is not at hand");
  const json: unknown = JSON.parse(await config.text());
  return openWeights(await openSafetensors(weights), (vocabSize) => describeModel(json, vocabSize));
}

/** Times variants: keeps the best time of each, and compares its output the first time. */
function variantMeter(device: GPUDevice, { y, width, measure }: PreparedProducts, context: BenchContext) {
  const known = new Map<string, TimedVariant>();
  /** The output of the first variant for one row, and of another one for each number of rows. */
  const written = new Map<number, ArrayBuffer>();
  const compare = async (rows: number) => {
    const all = await readBuffer(device, y);
    const firstRow = all.slice(0, 4 * width);
    if (!new Float32Array(firstRow).some((value) => value !== 0)) return width;
    let differing = 0;
    for (const [ofRows, bytes] of [[1, firstRow] as const, [rows, all] as const]) {
      const before = written.get(ofRows);
      if (before) differing += differingWords(bytes.slice(0, before.byteLength), before);
      else written.set(ofRows, bytes);
    }
    return differing;
  };
  return {
    /** Undefined if the adapter refuses it. */
    timed: (variant: MatmulVariant) => known.get(keyOf(variant)),
    measure: async (variant: MatmulVariant, rows: number): Promise<number> => {
      context.signal.throwIfAborted();
      const timed = known.get(keyOf(variant));
      if (!timed) device.queue.writeBuffer(y, 0, new Uint8Array(y.size));
      context.progress(known.size / 18, `${variant.name}, ${rows} rows`);
      const ms = await measure(variant, rows);
      if (timed) timed.ms = Math.min(timed.ms, ms);
      else known.set(keyOf(variant), { name: variant.name, rows, ms, differing: await compare(rows) });
      return ms;
    },
  };
}

function titleOf(maxRows: number): string {
  if (maxRows === Infinity) return "Steps of more rows";
  return maxRows === 1 ? "Steps of one row" : `Steps of up to ${maxRows} rows`;
}

/** Returns a variant's key: a kernel of one name may be in two classes. */
function keyOf({ name, maxRows }: Pick<MatmulVariant, "name" | "maxRows">): string {
  return `${name}, up to ${maxRows}`;
}

function resultOf(
  choices: readonly (readonly MatmulVariant[])[],
  classes: readonly (readonly TimedVariant[])[],
  weightBytes: number,
  chosen: readonly string[],
): SectionFindings {
  const all = classes.flat();
  const wrong = all.filter(({ differing }) => differing > 0);
  return {
    headlines: [[`${all.length - wrong.length} of ${all.length}`, "kernels for products give the same bits"]],
    tables: classes.map((variants, i) => {
      const most = choices[i]?.[0]?.maxRows ?? Infinity;
      const [first] = variants;
      return {
        title: titleOf(most),
        columns: ["Kernel", "rows", "µs a product", "GB/s of weights", "vs the default", "bits", "chosen"],
        rows: variants.map(({ name, rows, ms, differing }) => [
          name,
          rows,
          1000 * ms,
          weightBytes / ms / 1e6,
          ms / (first?.ms ?? NaN),
          differing === 0 ? "same" : WRONG,
          chosen[i] === name ? "yes" : "",
        ]),
      };
    }),
    notes: wrong.map(({ name, differing }) => `${name}: ${differing} words differ from those of the first kernel.`),
  };
}
