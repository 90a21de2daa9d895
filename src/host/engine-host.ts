import { ChorusError } from "../protocol/errors.ts";
import type { EngineService, OptionalReports } from "../protocol/service.ts";
import { ModelLoader } from "./loading/model-loader.ts";
import { ModelOrigin } from "./loading/model-origin.ts";
import { throttleProgress } from "./loading/throttle-progress.ts";
import type { Platform } from "./platforms/platform.ts";
import { Session } from "./session.ts";

/** The host's side of `EngineService`: knows which session there is, and who listens. */
export class EngineHost implements EngineService {
  readonly #platform: Platform;
  /** Null until a load begins. */
  #loader: ModelLoader | null = null;
  /** Null until the load ends. */
  #session: Session | null = null;
  readonly #reported: Record<OptionalReports, boolean> = { steps: false, words: false, kernels: false };

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  get #running(): Session {
    if (!this.#session) throw new ChorusError("internal_error", "No model has been loaded.");
    return this.#session;
  }

  load: EngineService["load"] = async (location, config, onMessage, onProgress) => {
    const platform = this.#platform;
    const loader = (this.#loader = new ModelLoader(new ModelOrigin(location, platform), config, platform));
    const model = await loader.load(throttleProgress(onProgress, () => platform.now()));
    this.#session = new Session({ model, config, loader, platform, reported: this.#reported, onMessage });
    return this.#session.loaded;
  };

  submit: EngineService["submit"] = (ticket, request) => this.#running.submit(ticket, request);
  abort: EngineService["abort"] = (ticket) => this.#session?.abort(ticket);
  renderChat: EngineService["renderChat"] = (body) => this.#running.renderChat(body);
  tokenize: EngineService["tokenize"] = (body) => this.#running.tokenize(body);
  detokenize: EngineService["detokenize"] = (body) => this.#running.detokenize(body);
  stats: EngineService["stats"] = () => this.#running.engine.stats();
  metrics: EngineService["metrics"] = () => this.#running.telemetry.prometheusText();
  kvCacheMap: EngineService["kvCacheMap"] = () => this.#running.engine.kvCacheMap();
  kvBlockTokens: EngineService["kvBlockTokens"] = (block) => this.#running.engine.kvBlockTokens(block);
  update: EngineService["update"] = (changes) => this.#running.update(changes);

  requestReports: EngineService["requestReports"] = (reports, isRequested) => {
    this.#reported[reports] = isRequested;
    if (reports === "kernels") this.#session?.timeKernels(isRequested);
  };

  /** Also ends a load. Idempotent. */
  dispose(): void {
    if (this.#session === null) this.#loader?.close();
    else this.#session.engine.fail(new ChorusError("engine_disposed", "The engine was disposed of."));
  }
}
