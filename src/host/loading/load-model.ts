import type { KernelChoice, LoadedRunner, OpenedBackend } from "../../backends/backend.ts";
import type { Trials } from "../../backends/trials.ts";
import type { SchedulerConfig } from "../../engine/scheduling/scheduler-config.ts";
import type { GenerationDefaults } from "../../files/generation-config.ts";
import { ModelTokenizer, withoutEncoder } from "../../files/tokenizer.ts";
import { slidingWindowOf } from "../../models/graph.ts";
import type { EngineConfig, ResolvedEngineConfig } from "../../protocol/config.ts";
import { numStateSlots } from "../../protocol/model-shape.ts";
import type { LoadProgress, ModelCard } from "../../protocol/reports.ts";
import type { Platform } from "../platforms/platform.ts";
import type { Texts } from "../text/texts.ts";
import { checkFits } from "./check-fits.ts";
import { configFor } from "./config-for.ts";
import { describe } from "./describe.ts";
import { fetchModel } from "./fetch.ts";
import { LoadGuard } from "./load-guard.ts";
import { modelCard } from "./model-card.ts";
import type { ModelOrigin } from "./model-origin.ts";
import { place } from "./place.ts";
import { verify } from "./verify.ts";

/** A model ready to run: loaded by a backend, with everything its requests need. */
export interface LoadedModel {
  readonly card: ModelCard;
  /** Knows the tokens' texts. It can't encode: `texts` does. */
  readonly tokenizer: ModelTokenizer;
  readonly texts: Texts;
  readonly defaults: GenerationDefaults;
  readonly engineConfig: ResolvedEngineConfig;
  /** The token budget where none is set; null: the library's. */
  readonly defaultBatchedTokens: number | null;
  /** What its layers keep of a sequence. */
  readonly layout: Pick<SchedulerConfig, "slidingWindow" | "numStateSlots">;
  readonly backend: OpenedBackend;
  readonly runner: LoadedRunner;
  /** A small model that drafts, and the most tokens of a sequence in it; null without one. */
  readonly draft: { readonly runner: LoadedRunner; readonly maxLength: number } | null;
  readonly endDownload: LoadGuard["endDownload"];
}

/**
 * Loads a model.
 * @param backend is opened, and closed where this throws
 * @param known what makes tokens of its texts, if it was loaded before
 * @throws ChorusError that names the file or field; then nothing is held
 */
export async function loadModel(
  backend: OpenedBackend,
  origin: ModelOrigin,
  config: EngineConfig,
  platform: Platform,
  onProgress: (progress: LoadProgress) => void,
  { texts: known, trials }: { readonly texts: Texts | null; readonly trials: Trials },
): Promise<LoadedModel> {
  const guard = new LoadGuard(backend, onProgress);
  try {
    guard.report({ stage: "adapter", done: 1, total: 1, detail: backend.adapterName });
    const described = await describe(backend, origin, config, guard);
    const { drafting, defaultBatchedTokens } = described;
    const fetched = await fetchModel(described, platform, known, guard);
    const { source, defaults, weights } = fetched;
    // Files may say what the description could not: which weights are packed, how many tokens there are.
    const requested = configFor(weights.model, config, backend, drafting?.model);
    checkFits(backend, weights.model, requested, config);
    const { tuning } = platform;
    const placing = (kernels: KernelChoice) => place(backend, fetched, requested, { kernels, tuning, trials }, guard);
    const [texts, verified, tokenizer] = await Promise.all([
      fetched.texts,
      verify(placing, backend, fetched, requested, platform, guard),
      afterTask(() => new ModelTokenizer(withoutEncoder(source))), // kernels begin to compile before
      fetched.checking,
    ]);
    const { runner, draft = null, engineConfig } = verified;
    guard.report(cacheProgress(engineConfig.numGpuBlocks, requested.numGpuBlocks));
    const card = modelCard(backend, fetched, verified, tokenizer, texts);
    const { graph, shape } = weights.model;
    const layout = { slidingWindow: slidingWindowOf(graph), numStateSlots: numStateSlots(shape, engineConfig) };
    guard.succeed();
    const { endDownload } = guard;
    const parts = { card, tokenizer, texts, defaults, engineConfig, defaultBatchedTokens, layout };
    return { ...parts, backend, runner, draft, endDownload };
  } catch (error) {
    throw await guard.fail(error);
  }
}

function cacheProgress(numBlocks: number, requested: number): LoadProgress {
  const detail = `${numBlocks} blocks${numBlocks < requested ? ` (no memory for ${requested})` : ""}`;
  return { stage: "cache", done: numBlocks, total: numBlocks, detail };
}

/** Does something once other tasks had their turn. */
function afterTask<T>(make: () => T): Promise<T> {
  return new Promise((resolve) => setTimeout(resolve)).then(make);
}
