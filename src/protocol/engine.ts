// The library's interface: what createEngine resolves to, wherever the engine runs.

import type { EngineConfig, ModelSource, ResolvedEngineConfig } from "./config.ts";
import type { ChorusErrorData } from "./errors.ts";
import type { EngineChanges, LoadedSizes } from "./live-config.ts";
import type { HubOptions } from "./model-source.ts";
import type {
  ChatCompletion,
  ChatCompletionChunk,
  ChatCompletionRequest,
  Completion,
  CompletionRequest,
  CreateOptions,
} from "./openai.ts";
import type { ResponseAnswer, ResponseEvent, ResponseRequest } from "./openai-responses.ts";
import type { RenderChatRequest, RenderedChat } from "./rendered-chat.ts";
import type {
  Alert,
  DeviceReport,
  EngineStats,
  KernelsReport,
  KvBlockTokens,
  KvCacheMap,
  LoadProgress,
  ModelCard,
  RequestReport,
  StepReport,
  WordsReport,
} from "./reports.ts";
import type { DetokenizeRequest, DetokenizeResponse, TokenizeRequest, TokenizeResponse } from "./tokenize.ts";

/** Leaving the loop early (break, return, throw) aborts the request. */
export type CompletionStream<Chunk> = AsyncIterableIterator<Chunk>;

/** What answers a kind of requests, whole or in pieces. */
export interface Endpoint<Request, Answer, Piece> {
  create(body: Request & { stream: true }, options?: CreateOptions): Promise<CompletionStream<Piece>>;
  create(body: Request & { stream?: false | null }, options?: CreateOptions): Promise<Answer>;
  create(body: Request, options?: CreateOptions): Promise<Answer | CompletionStream<Piece>>;
}

export interface ChatCompletions extends Endpoint<ChatCompletionRequest, ChatCompletion, ChatCompletionChunk> {}
export interface Completions extends Endpoint<CompletionRequest, Completion, Completion> {}
export interface Responses extends Endpoint<ResponseRequest, ResponseAnswer, ResponseEvent> {}

export interface Chat {
  readonly completions: ChatCompletions;
  /**
   * Returns the prompt that the messages become.
   * @throws ChorusError as create does for messages
   */
  render(body: RenderChatRequest): Promise<RenderedChat>;
}

export interface EngineEvents {
  /** After each engine step. Crosses to the page only while somebody listens. */
  step: StepReport;
  /** A sequence was queued, has its first token, or ended. */
  request: RequestReport;
  /** What was asked and answered, word by word. */
  words: WordsReport;
  /**
   * The times of each kernel of a step, after its report. While somebody listens, one step of eight has a compute pass for
   * each kernel, which takes longer and gives the same tokens. The histograms of `metrics()` have such a step's time, and so
   * have its report and the answers' figures. Neither limits that follow `targetItlMs`, nor the rows of prompts beside
   * streams, nor the alert "itl" observe it. A draft model's kernels are not timed. Never on the CPU, nor on GPUs without
   * timestamp queries, nor where the GPU refuses them (then the log says so).
   */
  kernels: KernelsReport;
  /** An alert was raised or has recovered (the config's `alerts`). A new listener first gets the alerts that are raised now. */
  alert: Alert;
  /** The device was lost, or replaced. Answers go on where they were. */
  device: DeviceReport;
  /** The configuration was changed by update(), here or in another page that shares the engine. */
  config: ResolvedEngineConfig;
  /** The engine died (worker killed, no device left). Open requests have been rejected with the same error. */
  fatal: ChorusErrorData;
}

export interface ChorusEngine extends AsyncDisposable {
  readonly model: ModelCard;
  /** The configuration now, with all defaults filled in. */
  readonly config: ResolvedEngineConfig;
  /** The sizes that its memory was laid out for; update() accepts no larger ones. */
  readonly sizes: LoadedSizes;
  readonly chat: Chat;
  readonly completions: Completions;
  /** OpenAI's newer shape of chats: text, thoughts and function calls. Nothing is stored. */
  readonly responses: Responses;
  /** Returns the function that unsubscribes. */
  on<Name extends keyof EngineEvents>(event: Name, listener: (payload: EngineEvents[Name]) => void): () => void;
  /** Returns the tokens of a text or a chat. @throws ChorusError as create does */
  tokenize(body: TokenizeRequest): Promise<TokenizeResponse>;
  /** Returns the text of tokens. @throws ChorusError for ids that the model does not have */
  detokenize(body: DetokenizeRequest): Promise<DetokenizeResponse>;
  /**
   * Answers a request as OpenAI's and vLLM's servers do, by its path: `/v1/chat/completions`, `/v1/models`, `/metrics`...
   * Takes what fetch takes, so that any OpenAI client can have it as its `fetch`. What is wrong becomes a status and
   * OpenAI's error body; rejects as fetch does, with the reason of the request's signal.
   */
  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>;
  stats(): Promise<EngineStats>;
  /** All counters, gauges and histograms as Prometheus text, under vLLM's names. */
  metrics(): Promise<string>;
  /** Returns the owners of all cache blocks. Computed on request only. */
  kvCacheMap(): Promise<KvCacheMap>;
  /** Returns the tokens that one cache block holds. @param block its index in the map */
  kvBlockTokens(block: number): Promise<KvBlockTokens>;
  /**
   * Changes how the engine serves, from the next step on: any field of `LIVE_FIELDS`; null is its default, and what is not
   * named stays. Returns the configuration. The tokens of running requests stay what they would have been. Under another
   * batching mode or fewer sequences the last ones may have to wait: they lose their blocks, and recompute what the prefix
   * cache loses. Other `alerts` first resolve all raised alerts, and raise those again that cross the new thresholds.
   * @throws ChorusError as createEngine does; invalid_value, naming the field, for what only another engine can have: more
   *   sequences, tokens or drafts than this one was loaded for (see `sizes`), another model, dtype or cache
   */
  update(changes: EngineChanges): Promise<ResolvedEngineConfig>;
  /** Rejects open requests with engine_disposed, frees the GPU and ends the worker. Idempotent. */
  dispose(): Promise<void>;
}

/** WebGPU's GPU, where the project's types have it: those of TypeScript 5 don't. */
export type OwnGpu = Navigator extends { readonly gpu: infer Gpu } ? Gpu : object;

export interface CreateEngineOptions extends EngineConfig, HubOptions {
  /** A model of the hub ("owner/name"), the URL of a folder, in Node also its path, or files. */
  model: ModelSource | URL;
  /** Called as a stage of loading begins and ends, and at most 20 times a second between. [none] */
  onProgress?: (progress: LoadProgress) => void;
  /** Cancels loading: createEngine rejects with the signal's reason. Finished downloads are kept. [none] */
  signal?: AbortSignal;
  /**
   * false: run in this thread. "shared": one engine for all pages of this origin that ask for the
   * same model and configuration, where the browser has shared workers and the page may have one; each page disposes of its
   * own share. [true: in a Web Worker; false where there are none, as in Node]
   */
  worker?: boolean | "shared";
  /** The WebGPU to use with `worker: false`. [navigator.gpu] */
  gpu?: OwnGpu;
}
