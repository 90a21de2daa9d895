import { resolveEngineConfig } from "../../api/engine-config.ts";
import type { KernelChoice, LoadedRunner, OpenedBackend } from "../../backends/backend.ts";
import { loadGenerationDefaults, type GenerationDefaults } from "../../files/generation-config.ts";
import { CONFIG_FILE, TOKENIZER_FILE } from "../../files/model-folder.ts";
import { openCheckpoint } from "../../files/open-checkpoint.ts";
import { ModelTokenizer, readTokenizer, withoutEncoder } from "../../files/tokenizer.ts";
import { checkValues } from "../../models/check-values.ts";
import { describeModel } from "../../models/families.ts";
import { slidingWindowOf } from "../../models/graph.ts";
import type { Model } from "../../models/model.ts";
import { openWeights, type ModelWeights } from "../../models/model-weights.ts";
import { withToldReads } from "../../models/told-reads.ts";
import { CATALOGUE, type ChatFrame } from "../../protocol/catalogue.ts";
import type { EngineConfig, ResolvedEngineConfig, WeightsDtype } from "../../protocol/config.ts";
import { ChorusError } from "../../protocol/errors.ts";
import type { ModelLocation } from "../../protocol/model-source.ts";
import type { LoadProgress, ModelCard } from "../../protocol/reports.ts";
import { causeOf, unlessFailed } from "./backend-failure.ts";
import { describeDraftModel, loadDraftModel } from "./draft-model.ts";
import { KnownAnswers } from "./known-answers.ts";
import { loadIntoMemory, type LoadedIntoMemory, type LoadedRunners } from "./load-into-memory.ts";
import { disposeOf, loadRightKernels } from "./load-right-kernels.ts";
import { openModel } from "./open-model.ts";
import type { Platform } from "../platforms/platform.ts";
import { readTeller } from "./read-teller.ts";
import { textPortInPlace } from "../text/port-in-place.ts";
import { Texts } from "../text/texts.ts";
import { unlessStalled } from "../../protocol/unless-stalled.ts";
import { usualDraws } from "./usual-draws.ts";

/** Embeddings are padded to a multiple of at most this. */
const LARGEST_PADDING = 1024;

/** A device that tells no progress for this long never will. Drivers take tens of seconds for a large kernel. */
const MOST_STALL_MS = 120_000;

/** What loading throws when a device gets stuck. */
export class DeviceStalled extends ChorusError {
  constructor(adapterName: string) {
    super(
      "device_lost",
      `${adapterName} made no progress for ${MOST_STALL_MS / 1000} seconds while it loaded the model.`,
    );
  }
}

/** A model ready to run: loaded by a backend, with everything its requests need. */
export interface LoadedModel {
  readonly card: ModelCard;
  /** Knows the tokens' texts. It can't encode: `texts` does. */
  readonly tokenizer: ModelTokenizer;
  readonly texts: Texts;
  readonly defaults: GenerationDefaults;
  readonly engineConfig: ResolvedEngineConfig;
  /** The token budget where none is set; null: the library's. */
  readonly usualBatchedTokens: number | null;
  /** Positions that a row sees in the layer that sees most; null if one sees all. */
  readonly slidingWindow: number | null;
  readonly backend: OpenedBackend;
  readonly runner: LoadedRunner;
  /** A small model that drafts, and the most tokens of a sequence in it; null without one. */
  readonly draft: { readonly runner: LoadedRunner; readonly maxLength: number } | null;
  /** Ends a download whose last bytes nobody reads. Idempotent. */
  readonly endDownload: () => void;
}

/**
 * Loads a model from where it lies.
 * @param backend is opened, and closed where this throws
 * @param known what makes tokens of its texts, if it was loaded before
 * @throws ChorusError that names the file or field; then nothing is held
 */
export async function loadModel(
  backend: OpenedBackend,
  location: ModelLocation,
  config: EngineConfig,
  platform: Platform,
  tellProgress: (progress: LoadProgress) => void,
  known: Texts | null = null,
): Promise<LoadedModel> {
  let countProgress = (): void => {};
  const onProgress = (progress: LoadProgress): void => {
    countProgress();
    tellProgress(progress);
  };
  let isLoaded = false;
  const onFile = (progress: LoadProgress): void => {
    if (!isLoaded) onProgress(progress);
  };
  let opening: Promise<Texts> | null = null;
  /** Ends what is still going on: of a load that failed, or with the model. A file's last bytes may come after it is ready. */
  const over = new AbortController();
  /** Ends what the device does, if it fails or gets stuck. The signal ends the reading of weights. */
  const unlessGone = <T>(work: (signal: AbortSignal) => Promise<T>, discard?: (late: T) => void): Promise<T> => {
    const ending = new AbortController();
    const error = () => {
      const stalled = new DeviceStalled(backend.adapterName);
      ending.abort(stalled);
      return stalled;
    };
    return unlessStalled(
      (count) => {
        countProgress = count;
        return unlessFailed(work(ending.signal), backend);
      },
      { limitMs: MOST_STALL_MS, error, ...(discard && { discard }) },
    );
  };
  try {
    onProgress({ stage: "adapter", done: 1, total: 1, detail: backend.adapterName });
    const folder = await openModel(location, platform, onFile, over.signal);
    const configJson = await folder.files.readJson(CONFIG_FILE);
    const described = describeModel(configJson);
    const drafting = await describeDraftModel(config, location, platform, onFile, over.signal);
    const usual = backend.usual(described);
    const wanted = resolveEngineConfig(config, described.shape, usual, drafting?.model.shape);
    const checkFits = (model: Model) => blamingBlocks(config, () => backend.checkFits(model, wanted));
    checkFits(described);
    if (drafting) {
      checkFits(drafting.model);
      await drafting.checkTokens(folder.files);
    }
    const files = await folder.fetch();
    // All are asked for at once: on a network each takes a round trip.
    const readingDefaults = loadGenerationDefaults(files, described.eosTokenIds);
    const readingSource = readTokenizer(
      files,
      readingDefaults.then(({ eosTokenIds }) => eosTokenIds),
    );
    const frame = chatFrameOf(location);
    // Its thread starts while weights arrive and kernels compile.
    opening =
      known === null
        ? readingSource.then((tokenizer) =>
            Texts.open(platform.openTextThread ?? textPortInPlace, { tokenizer, frame }),
          )
        : Promise.resolve(known);
    opening.catch(() => undefined); // heard below
    const [source, defaults, checkpoint] = await Promise.all([
      readingSource,
      readingDefaults,
      openCheckpoint(files, { isEarly: drafting === null }),
    ]);
    const weights = openWeights(checkpoint, (vocabSize) => describeModel(configJson, vocabSize));
    const { shape } = weights.model;
    const { vocabSize } = source.json;
    checkTokenizer(vocabSize, shape.vocabSize);
    const checking = checkValues(weights);
    checking.catch(() => undefined); // heard below
    // A model that is refused costs no other's download.
    if (drafting) await Promise.all([opening, checking]);
    const draftWeights = await drafting?.fetch();
    const draws = usualDraws(defaults);
    const load = (kernels: KernelChoice) => {
      over.signal.throwIfAborted();
      const onKernel = (done: number, total: number) => onProgress({ stage: "kernels", done, total });
      const options = { vocabSize, onKernel, kernels, draws };
      const loadOnce = async (engine: ResolvedEngineConfig): Promise<LoadedRunners> => {
        const tellRead = readTeller([weights, ...(draftWeights ? [draftWeights] : [])], onProgress);
        const told = (of: ModelWeights, signal: AbortSignal) =>
          withToldReads(of, (bytes) => {
            signal.throwIfAborted();
            over.signal.throwIfAborted();
            countProgress();
            tellRead(bytes);
          });
        const loaded = await unlessGone(
          (signal) => backend.load({ ...options, weights: told(weights, signal), engine, tuning: platform.tuning }),
          (late) => late.dispose(),
        );
        if (draftWeights === undefined) return { runner: loaded, draft: null };
        try {
          const loadDraft = (signal: AbortSignal) =>
            loadDraftModel(backend, told(draftWeights, signal), engine, options);
          return { runner: loaded, draft: await unlessGone(loadDraft, (late) => late.runner.dispose()) };
        } catch (error) {
          loaded.dispose();
          throw error;
        }
      };
      const weightBytes = (dtype: WeightsDtype) => backend.memory(weights.model, { ...wanted, dtype }).weightBytes;
      return loadIntoMemory(wanted, loadOnce, weightBytes);
    };
    const answersOf = (engine: ResolvedEngineConfig) => new KnownAnswers({ weights, engine, vocabSize, platform });
    const answers = answersOf(wanted);
    const check = async ({ runner: loaded, engineConfig: engine }: LoadedIntoMemory) => {
      await checking; // else a damaged file would be the adapter's fault
      return unlessGone(() => (engine === wanted ? answers : answersOf(engine)).wrongAnswersOf(loaded));
    };
    const loading = loadRightKernels(load, check);
    if (backend.name !== platform.reference?.name) void answers.prepare(backend.adapterName);
    const [texts, { runner, draft = null, engineConfig, notice }, tokenizer] = await Promise.all([
      opening,
      loading,
      afterTask(() => new ModelTokenizer(withoutEncoder(source))), // kernels begin to compile before
      checking,
    ]).catch((error: unknown) => {
      over.abort(error);
      void loading.then(disposeOf, () => undefined);
      throw error;
    });
    const { numGpuBlocks } = engineConfig;
    const isSmaller = numGpuBlocks < wanted.numGpuBlocks;
    const detail = `${numGpuBlocks} blocks${isSmaller ? ` (no memory for ${wanted.numGpuBlocks})` : ""}`;
    onProgress({ stage: "cache", done: numGpuBlocks, total: numGpuBlocks, detail });
    const card: ModelCard = {
      name: files.name,
      numParameters: weights.numParameters,
      weightBytes: runner.weightBytes,
      kvCacheBytes: backend.memory(weights.model, engineConfig).kvCacheBytes,
      contextLength: engineConfig.maxModelLen,
      vocabSize,
      numLayers: shape.numLayers,
      dtype: engineConfig.dtype,
      kvCacheDtype: engineConfig.kvCacheDtype,
      numGpuBlocks,
      blockSize: engineConfig.blockSize,
      backend: backend.name,
      adapter: runner.adapterName,
      notice,
      chat: tokenizer.chatTemplate !== null || frame !== null,
      readsSystemPrompt: texts.readsSystemPrompt,
      canTimeKernels: (runner.timeKernels ?? null) !== null,
      defaults: {
        temperature: defaults.temperature,
        top_p: defaults.topP,
        top_k: defaults.topK,
        min_p: defaults.minP,
        repetition_penalty: defaults.repetitionPenalty,
      },
    };
    const slidingWindow = slidingWindowOf(weights.model.graph);
    const usualBatchedTokens = usual.maxNumBatchedTokens ?? null;
    const parts = { card, tokenizer, texts, defaults, engineConfig };
    isLoaded = true;
    return { ...parts, usualBatchedTokens, slidingWindow, backend, runner, draft, endDownload: () => over.abort() };
  } catch (error) {
    over.abort(error);
    const cause = await causeOf(backend, error);
    backend.close();
    if (known === null) void opening?.then((texts) => texts.dispose()).catch(() => undefined);
    throw cause;
  }
}

/** The cache's size may have been given in blocks: then a cache that is too large is that field's fault. */
function blamingBlocks({ numGpuBlocks }: EngineConfig, check: () => void): void {
  try {
    check();
  } catch (error) {
    const isCaches = error instanceof ChorusError && error.param === "kvCacheBytes";
    if (!isCaches || (numGpuBlocks ?? null) === null) throw error;
    throw new ChorusError(error.code, error.message, "numGpuBlocks");
  }
}

/** Does something once other tasks had their turn. */
function afterTask<T>(make: () => T): Promise<T> {
  return new Promise((resolve) => setTimeout(resolve)).then(make);
}

function chatFrameOf(location: ModelLocation): ChatFrame | null {
  return CATALOGUE.find(({ model }) => location.type === "hub" && model === location.id)?.chatFrame ?? null;
}

/**
 * Rows of the embedding that no token has are padding, up to where it can be no padding any more. A token without a row
 * cannot be.
 */
function checkTokenizer(tokens: number, rows: number): void {
  if (tokens <= rows && rows - tokens < LARGEST_PADDING) return;
  throw new ChorusError(
    "model_invalid",
    `${TOKENIZER_FILE} has ${tokens} tokens, but the model's embedding has ${rows} rows: they are not of the same model.`,
    TOKENIZER_FILE,
  );
}
