// The contract between the page's side (client/) and the engine's side (host/). One interface, two homes: in a Web Worker
// through Comlink, or in place. Plain data only: everything here survives structured clone.

import type { EngineConfig, ResolvedEngineConfig } from "./config.ts";
import type { ChorusErrorData } from "./errors.ts";
import type { EngineChanges, LoadedSizes } from "./live-config.ts";
import type { ModelLocation } from "./model-source.ts";
import type {
  ChatCompletion,
  ChatCompletionChunk,
  ChatCompletionRequest,
  Completion,
  CompletionRequest,
} from "./openai.ts";
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

/** A request as it crosses: which endpoint, and the body as the caller wrote it (validated on the engine's side). */
export type GenerationRequest =
  | { readonly endpoint: "chat.completions"; readonly body: ChatCompletionRequest }
  | { readonly endpoint: "completions"; readonly body: CompletionRequest };

export type Chunk = ChatCompletionChunk | Completion;
export type Response = ChatCompletion | Completion;

/**
 * An event of one request. `response` (not streamed), `end` (streamed) and `error` are final. `text` stands for a chunk
 * that adds text to a choice and nothing else: see text-chunk.ts. Never the first of a request.
 */
export type RequestEvent =
  | { readonly type: "chunk"; readonly ticket: number; readonly chunk: Chunk }
  | { readonly type: "text"; readonly ticket: number; readonly choice: number; readonly text: string }
  | { readonly type: "response"; readonly ticket: number; readonly response: Response }
  | { readonly type: "end"; readonly ticket: number }
  | { readonly type: "error"; readonly ticket: number; readonly error: ChorusErrorData };

/** Returns whether nothing follows an event. */
export function isFinal({ type }: RequestEvent): boolean {
  return type !== "chunk" && type !== "text";
}

/** Reports that are posted only while somebody listens. */
export const OPTIONAL_REPORTS = ["steps", "words", "kernels"] as const;
export type OptionalReports = (typeof OPTIONAL_REPORTS)[number];

/** Everything of one step in one message: posting per token would cost more than the step. */
export interface EngineMessage {
  readonly events: readonly RequestEvent[];
  readonly steps: readonly StepReport[];
  readonly requests: readonly RequestReport[];
  readonly words: readonly WordsReport[];
  readonly kernels: readonly KernelsReport[];
  readonly alerts: readonly Alert[];
  readonly devices: readonly DeviceReport[];
  /** The config after each update(). */
  readonly configs: readonly ResolvedEngineConfig[];
  /** The engine is gone (device lost, out of memory). Every open request has had its error event. */
  readonly fatal: ChorusErrorData | null;
  /** Messages before this one were lost on their way, with events of any open request. */
  readonly lost: ChorusErrorData | null;
}

export const EMPTY_MESSAGE: EngineMessage = {
  events: [],
  steps: [],
  requests: [],
  words: [],
  kernels: [],
  alerts: [],
  devices: [],
  configs: [],
  fatal: null,
  lost: null,
};

export interface LoadedEngine {
  readonly model: ModelCard;
  readonly config: ResolvedEngineConfig;
  readonly sizes: LoadedSizes;
}

export interface EngineService {
  /** Loads a model and starts the engine. Once. */
  load(
    location: ModelLocation,
    config: EngineConfig,
    onMessage: (message: EngineMessage) => void,
    onProgress: (progress: LoadProgress) => void,
  ): Promise<LoadedEngine>;
  /** Starts a request under the caller's ticket. Everything about it arrives as RequestEvents. Never throws. */
  submit(ticket: number, request: GenerationRequest): void;
  /** Aborts a request between two steps. Idempotent; unknown tickets are ignored. */
  abort(ticket: number): void;
  renderChat(body: RenderChatRequest): Promise<RenderedChat>;
  tokenize(body: TokenizeRequest): Promise<TokenizeResponse>;
  detokenize(body: DetokenizeRequest): DetokenizeResponse;
  stats(): EngineStats;
  metrics(): string;
  kvCacheMap(): KvCacheMap;
  kvBlockTokens(block: number): KvBlockTokens;
  /** Changes the config from the next step on, and returns it. */
  update(changes: EngineChanges): ResolvedEngineConfig | Promise<ResolvedEngineConfig>;
  /** Starts or stops posting such reports. */
  requestReports(reports: OptionalReports, isRequested: boolean): void;
  /** Ends every request with engine_disposed and frees the GPU. */
  dispose(): void;
}
