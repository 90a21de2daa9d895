import type { DownloadModelOptions, Models } from "../../src/client/models-client.ts";
import { CATALOGUE } from "../../src/protocol/catalogue.ts";
import type { EngineConfig } from "../../src/protocol/config.ts";
import { ChorusError } from "../../src/protocol/errors.ts";
import type { HubOptions } from "../../src/protocol/model-source.ts";
import type { ModelEstimate, StoredModel } from "../../src/protocol/models.ts";

const TOTAL_BYTES = 250_000_000;
const MB = 1e6;

const notFound = (model: string) =>
  new ChorusError("model_not_found", `There is no ${model} on the hub (404). Check the name.`, "model");

/** The library's models without a network: a test decides how far a download gets, and stored models are a list. */
export class FakeModels implements Models {
  readonly catalogue = CATALOGUE;
  readonly stored = new Map<string, StoredModel>();
  /** Each makes a download go on by some bytes. */
  readonly #advance = new Set<(bytes: number) => void>();

  async list(): Promise<StoredModel[]> {
    return [...this.stored.values()];
  }

  /** Names with "missing" in them are not there. */
  download(model: string, { onProgress, signal, revision, hubUrl }: DownloadModelOptions = {}): Promise<StoredModel> {
    return new Promise((resolve, reject) => {
      if (model.includes("missing")) return reject(notFound(model));
      const keep = (receivedBytes: number): StoredModel => {
        const status = receivedBytes < TOTAL_BYTES ? "partial" : "whole";
        const counts = { receivedBytes, totalBytes: TOTAL_BYTES };
        const kept = {
          model,
          revision: revision ?? "main",
          hubUrl: hubUrl ?? null,
          commit: "c0ffee0",
          status,
          ...counts,
        } as const;
        this.stored.set(model, kept);
        return kept;
      };
      const advance = (bytes: number) => {
        const receivedBytes = Math.min(TOTAL_BYTES, (this.stored.get(model)?.receivedBytes ?? 0) + bytes);
        const kept = keep(receivedBytes);
        const secondsLeft = (TOTAL_BYTES - receivedBytes) / (12 * MB);
        onProgress?.({
          receivedBytes,
          totalBytes: TOTAL_BYTES,
          bytesPerSecond: 12 * MB,
          secondsLeft,
          isWaiting: false,
        });
        if (kept.status === "partial") return;
        this.#advance.delete(advance);
        resolve(kept);
      };
      this.#advance.add(advance);
      signal?.addEventListener("abort", () => {
        this.#advance.delete(advance);
        reject(signal.reason as Error);
      });
    });
  }

  /** All downloads go on. */
  receive(bytes: number): void {
    for (const advance of this.#advance) advance(bytes);
  }

  async delete(model: string): Promise<void> {
    this.stored.delete(model);
  }

  async estimate(model: string, { dtype: given }: EngineConfig & HubOptions = {}): Promise<ModelEstimate> {
    if (model.includes("missing")) throw notFound(model);
    const numParameters = CATALOGUE.find((entry) => entry.model === model)?.numParameters ?? 124_000_000;
    const as = (bits: number) => Math.round((numParameters * bits) / 8);
    const isPacked = model.includes(":Q");
    const weightBytesByDtype: ModelEstimate["weightBytesByDtype"] = isPacked
      ? { stored: as(5), f32: as(32), f16: as(16) }
      : { f32: as(32), f16: as(16), q8: as(8.5), q4: as(4.5) };
    const dtype = given ?? (isPacked ? "stored" : "f16");
    const weightBytes = weightBytesByDtype[dtype];
    if (weightBytes === undefined)
      throw new ChorusError("invalid_value", `dtype is "${dtype}", but the weights are packed already.`, "dtype");
    const stored = this.stored.get(model);
    return {
      downloadBytes: TOTAL_BYTES - (stored?.receivedBytes ?? 0),
      storedBytes: TOTAL_BYTES,
      freeBytes: 7_200_000_000,
      contextLength: 1024,
      numParameters,
      dtype,
      kvCacheDtype: "f16",
      weightBytes,
      weightBytesByDtype,
      mixture: isPacked ? "Q4_K 64%, Q6_K 36%" : null,
      kvCacheBytes: 256 * MB,
      ggufModels: model.includes("-GGUF")
        ? ["Q4_K_M", "Q8_0"].map((quantisation, i) => fakeGguf(model, quantisation, i))
        : [],
      problem:
        weightBytes > 2_000 * MB
          ? { code: "out_of_memory", message: 'The weights are too large here. dtype "f16" would fit.', param: "dtype" }
          : null,
    };
  }
}

function fakeGguf(model: string, quantisation: string, i: number) {
  return {
    model: `${model.split(":")[0]}:${quantisation}`,
    quantisation,
    downloadBytes: (105 + 38 * i) * MB,
    problem: null,
  };
}
