import { EngineClient } from "../../src/client/engine-client.ts";
import type { Transport } from "../../src/client/transport.ts";
import type { ResolvedEngineConfig } from "../../src/protocol/config.ts";
import { ChorusError } from "../../src/protocol/errors.ts";
import type { ModelLocation } from "../../src/protocol/model-source.ts";
import type { Completion } from "../../src/protocol/openai.ts";
import type { KvCacheMap, ModelCard } from "../../src/protocol/reports.ts";
import {
  EMPTY_MESSAGE,
  type EngineMessage,
  type GenerationRequest,
  type LoadedEngine,
} from "../../src/protocol/service.ts";

export const MAP: KvCacheMap = {
  blockSize: 16,
  states: Uint8Array.of(2),
  refCounts: Uint16Array.of(1),
  owners: Int32Array.of(0),
  filledTokens: Uint8Array.of(3),
  sequences: [{ requestId: "r", index: 0 }],
};
export const AT: ModelLocation = { type: "folder", url: "https://page.example/model/" };
export const CARD = { name: "fake" } as ModelCard;
export const CONFIG = { maxNumSeqs: 64 } as ResolvedEngineConfig;
export const SIZES = {
  maxNumSeqs: 64,
  maxNumBatchedTokens: 256,
  maxSpareSamples: 8,
  draftModel: null,
  defaultBatchedTokens: null,
};

/** The other side of a client, played by a test. */
export class FakeSide implements Transport {
  readonly submitted: { ticket: number; request: GenerationRequest }[] = [];
  readonly aborted: number[] = [];
  readonly died: Promise<ChorusError>;
  die: (error: ChorusError) => void = () => undefined;
  ping?: () => Promise<unknown>;
  isClosed = false;
  isDisposed = false;
  readonly reported = { steps: false, words: false, kernels: false };
  loaded: LoadedEngine | Promise<LoadedEngine> = { model: CARD, config: CONFIG, sizes: SIZES };
  post: (message: Partial<EngineMessage>) => void = () => undefined;
  submitAnswer: () => void | Promise<void> = () => undefined;

  readonly service: Transport["service"] = {
    load: (_source, _config, onMessage) => {
      this.post = (message) => onMessage({ ...EMPTY_MESSAGE, ...message });
      return Promise.resolve(this.loaded);
    },
    submit: (ticket, request) => {
      this.submitted.push({ ticket, request });
      return this.submitAnswer();
    },
    abort: (ticket) => void this.aborted.push(ticket),
    stats: () => new Promise(() => undefined),
    metrics: () => "vllm:num_requests_running 0\n",
    renderChat: async ({ messages }) => {
      if (messages.length === 0) throw new ChorusError("invalid_value", "Empty.", "messages");
      return { text: "User: Hi", tokenIds: [1, 2] };
    },
    tokenize: async () => ({ count: 2, max_model_len: 256, tokens: [1, 2], token_strs: null }),
    detokenize: ({ tokens }) => {
      if (tokens.length === 0) throw new ChorusError("invalid_value", "Empty.", "tokens");
      return { prompt: "Hi" };
    },
    kvCacheMap: () => MAP,
    kvBlockTokens: (block) => ({ tokenIds: [block], sequence: null, start: null }),
    update: ({ maxNumSeqs }) => {
      if (maxNumSeqs === 4) return { ...CONFIG, maxNumSeqs };
      throw new ChorusError("invalid_value", "No.", "maxNumSeqs");
    },
    requestReports: (reports, isRequested) => void (this.reported[reports] = isRequested),
    dispose: () => void (this.isDisposed = true),
  };

  constructor() {
    this.died = new Promise((resolve) => (this.die = resolve));
  }

  close(): void {
    this.isClosed = true;
  }

  connect(signal?: AbortSignal): Promise<EngineClient> {
    return EngineClient.connect(this, AT, {}, { ...(signal && { signal }) });
  }

  chunk(ticket: number, text: string): void {
    this.post({ events: [{ type: "chunk", ticket, chunk: completion(text) }] });
  }
}

export function completion(text: string): Completion {
  const choice = { index: 0, text, logprobs: null, finish_reason: null };
  return { id: "cmpl-1", object: "text_completion", created: 0, model: "fake", choices: [choice] };
}
