import type { EngineConfig, ResolvedEngineConfig } from "../protocol/config.ts";
import { ChorusError } from "../protocol/errors.ts";
import type { EngineChanges } from "../protocol/live-config.ts";
import type { ModelLocation } from "../protocol/model-source.ts";
import type { RenderChatRequest, RenderedChat } from "../protocol/rendered-chat.ts";
import type { EngineStats, KvBlockTokens, KvCacheMap, LoadProgress } from "../protocol/reports.ts";
import type {
  EngineMessage,
  EngineService,
  GenerationRequest,
  LoadedEngine,
  OptionalReports,
  Result,
} from "../protocol/service.ts";
import type { DetokenizeRequest, DetokenizeResponse, TokenizeRequest, TokenizeResponse } from "../protocol/tokenize.ts";
import { ModelLoader } from "./loading/model-loader.ts";
import { ModelOrigin } from "./loading/model-origin.ts";
import { throttleProgress } from "./loading/throttle-progress.ts";
import type { Platform } from "./platforms/platform.ts";
import { resultLater, resultOf } from "./results.ts";
import { Session } from "./session.ts";

/** The host's side of `EngineService`: knows which session there is and who listens, and answers with errors as data. */
export class EngineHost implements EngineService {
  readonly #platform: Platform;
  /** Null until a load begins. */
  #loader: ModelLoader | null = null;
  /** Null until the load ends. */
  #session: Session | null = null;
  /** The reports that have listeners. */
  readonly #reported: Record<OptionalReports, boolean> = { steps: false, words: false, kernels: false };

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  load(
    location: ModelLocation,
    config: EngineConfig,
    onMessage: (message: EngineMessage) => void,
    onProgress: (progress: LoadProgress) => void,
  ): Promise<Result<LoadedEngine>> {
    return resultLater(async () => {
      const platform = this.#platform;
      const loader = (this.#loader = new ModelLoader(new ModelOrigin(location, platform), config, platform));
      const model = await loader.load(throttleProgress(onProgress, () => platform.now()));
      this.#session = new Session({ model, config, loader, platform, reported: this.#reported, onMessage });
      return this.#session.loaded;
    });
  }

  submit(ticket: number, request: GenerationRequest): void {
    this.#requireSession().submit(ticket, request);
  }

  abort(ticket: number): void {
    this.#session?.abort(ticket);
  }

  renderChat(body: RenderChatRequest): Promise<Result<RenderedChat>> {
    return resultLater(() => this.#requireSession().renderChat(body));
  }

  tokenize(body: TokenizeRequest): Promise<Result<TokenizeResponse>> {
    return resultLater(() => this.#requireSession().tokenize(body));
  }

  detokenize(body: DetokenizeRequest): Result<DetokenizeResponse> {
    return resultOf(() => this.#requireSession().detokenize(body));
  }

  stats(): EngineStats {
    return this.#requireSession().engine.stats();
  }

  metrics(): string {
    return this.#requireSession().telemetry.prometheusText();
  }

  kvCacheMap(): KvCacheMap {
    return this.#requireSession().engine.kvCacheMap();
  }

  kvBlockTokens(block: number): KvBlockTokens {
    return this.#requireSession().engine.kvBlockTokens(block);
  }

  update(changes: EngineChanges): Result<ResolvedEngineConfig> {
    return resultOf(() => this.#requireSession().update(changes));
  }

  requestReports(reports: OptionalReports, isRequested: boolean): void {
    this.#reported[reports] = isRequested;
    if (reports === "kernels") this.#session?.timeKernels(isRequested);
  }

  /** Also ends a load. Idempotent. */
  dispose(): void {
    if (this.#session === null) this.#loader?.close();
    else this.#session.engine.fail(new ChorusError("engine_disposed", "The engine was disposed of."));
  }

  #requireSession(): Session {
    if (!this.#session) throw new ChorusError("internal_error", "No model has been loaded.");
    return this.#session;
  }
}
