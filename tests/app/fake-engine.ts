import { changeEngineConfig, loadedSizes, resolveEngineConfig, type ConfigInUse } from "../../src/api/engine-config.ts";
import { ReasoningSplitter } from "../../src/engine/text/reasoning-splitter.ts";
import { Metrics } from "../../src/engine/metrics/metrics.ts";
import { prometheusText } from "../../src/engine/metrics/prometheus.ts";
import type {
  Chat,
  ChatCompletions,
  ChorusEngine,
  Completions,
  CompletionStream,
  EngineEvents,
} from "../../src/protocol/engine.ts";
import type { BatchingMode, ResolvedEngineConfig } from "../../src/protocol/config.ts";
import { createHandler } from "../../src/http/handler.ts";
import { ChorusError, fromErrorData, type ChorusErrorData } from "../../src/protocol/errors.ts";
import type { EngineChanges, LoadedSizes } from "../../src/protocol/live-config.ts";
import type {
  ChatCompletionChunk,
  ChatCompletionRequest,
  ChatMessage,
  CompletionRequest,
  CreateOptions,
  FinishReason,
} from "../../src/protocol/openai.ts";
import {
  MAX_WAITING_IDS,
  tokensOf,
  type Alert,
  type AnswerWords,
  type DeviceReport,
  type EngineStats,
  type KvBlockTokens,
  type KvCacheMap,
  type ModelCard,
  type RequestReport,
  type StepEntry,
  type StepReport,
} from "../../src/protocol/reports.ts";
import type {
  DetokenizeRequest,
  DetokenizeResponse,
  TokenizeRequest,
  TokenizeResponse,
} from "../../src/protocol/tokenize.ts";
import { NO_STATS, SAMPLE_METRICS } from "../requests/sample-reports.ts";
import { asTexts, ChunkQueue } from "./chunk-queue.ts";
import { FakeBlocks } from "./fake-blocks.ts";
import { FAKE_MODEL } from "./fake-model-card.ts";
import { askedBody, logprobsOf, tokenIdsOf, wordsIn } from "./fake-words.ts";
import { textOf } from "./text-of.ts";

export interface FakeEngineOptions {
  /** The whole answer; a word is a token. */
  readonly answer?: (messages: readonly ChatMessage[]) => string;
  readonly model?: Partial<ModelCard>;
  /** Most answers that grow at once; the others wait. */
  readonly maxNumSeqs?: number;
  /** The mode that another tab has chosen before. ["continuous"] */
  readonly mode?: BatchingMode;
  /** Tokens drafted in each step; none, one, two... of them are accepted, in turn. [0] */
  readonly numDrafts?: number;
}

const SHAPE = { numLayers: 4, numKvHeads: 4, headDim: 64 };

interface FakeRequest {
  readonly id: string;
  readonly words: readonly string[];
  readonly reasoning: ReasoningSplitter;
  readonly promptTokens: number;
  readonly maxTokens: number;
  readonly logprobs: ((word: string) => ReturnType<typeof logprobsOf>) | null;
  readonly hasMetrics: boolean;
  /** Answers that grow side by side: the same words, in capitals from the second on. */
  readonly numAnswers: number;
  readonly arrivalMs: number;
  /** Wakes the reader of the stream. */
  readonly push: (chunk: ChatCompletionChunk) => void;
  readonly fail: (error: ChorusError) => void;
  numOutput: number;
  firstTokenMs: number | null;
}

/** A ChorusEngine without a model: answers are scripted, a token is a word, and time passes only in `step()`. */
export class FakeEngine implements ChorusEngine {
  readonly model: ModelCard;
  readonly sizes: LoadedSizes;
  /** Every request that was accepted, as it came. */
  readonly accepted: ChatCompletionRequest[] = [];
  /** The requested changes, in order. */
  readonly updates: EngineChanges[] = [];
  #config: ConfigInUse;
  readonly #options: FakeEngineOptions;
  readonly #metrics = new Metrics({ maxModelLen: FAKE_MODEL.contextLength });
  readonly #listeners = new Set<{ event: keyof EngineEvents; listener: (payload: never) => void }>();
  readonly #blocks: FakeBlocks;
  #requests: FakeRequest[] = [];
  #running: readonly FakeRequest[] = [];
  #preemptions = 0;
  #steps = 0;
  #nextId = 0;
  /** Entries of the step in progress. */
  #answers: AnswerWords[] = [];

  constructor(options: FakeEngineOptions = {}) {
    this.#options = options;
    this.model = { ...FAKE_MODEL, ...options.model };
    const { contextLength, numGpuBlocks } = this.model;
    const { maxNumSeqs = 64, mode: batchingMode = "continuous" } = options;
    const given = { maxNumSeqs, numGpuBlocks, batchingMode, seed: 0 };
    this.#config = { given, resolved: resolveEngineConfig(given, { ...SHAPE, maxPositions: contextLength }) };
    this.sizes = loadedSizes(this.#config, null);
    this.#blocks = new FakeBlocks(this.model.numGpuBlocks, this.model.blockSize);
  }

  get config(): ResolvedEngineConfig {
    return this.#config.resolved;
  }

  readonly chat: Chat = {
    completions: {
      create: (async (body: ChatCompletionRequest, options?: CreateOptions) =>
        this.#submit(body, options)) as ChatCompletions["create"],
    },
    render: async ({ messages }) => {
      const text = [...messages.map((message) => `${message.role}: ${textOf(message)}`), "assistant:"].join("\n");
      return { text, tokenIds: wordsIn(text).map((_, index) => index) };
    },
  };

  readonly responses = { create: () => Promise.reject(new Error("The app asks for none.")) };
  readonly completions: Completions = {
    create: (async (body: CompletionRequest, options?: CreateOptions): Promise<unknown> => {
      const { logprobs: _, prompt, ...fields } = body;
      const messages = [{ role: "user" as const, content: String(prompt) }];
      return asTexts(this.#submit({ ...fields, messages }, options, "cmpl"));
    }) as Completions["create"],
  };

  on<Name extends keyof EngineEvents>(event: Name, listener: (payload: EngineEvents[Name]) => void): () => void {
    const entry = { event, listener: listener as (payload: never) => void };
    this.#listeners.add(entry);
    return () => this.#listeners.delete(entry);
  }

  /** One token for each request that runs. */
  step(atMs = performance.now(), stepMs = 10): void {
    const ranBefore = this.#running.filter((request) => this.#requests.includes(request));
    const running = this.#chooseRunning(ranBefore);
    if (running.length === 0) return;
    const preempted = ranBefore.filter((request) => !running.includes(request));
    for (const request of preempted) this.#blocks.release(request.id);
    this.#preemptions += preempted.length;
    this.#running = running;
    const waitingIds = this.#requests.filter((request) => !running.includes(request)).map(({ id }) => id);
    const entries: StepEntry[] = running.map((request) => this.#advance(request, atMs));
    for (const entry of entries) if (entry.finishReason) this.#leave(entry.requestId);
    const isOpen = (request: FakeRequest) => this.#requests.includes(request);
    const promptRows = entries.reduce((sum, entry) => sum + entry.promptRows, 0);
    const report: StepReport = {
      step: ++this.#steps,
      atMs,
      stepMs,
      cpuMs: 1,
      gpuMs: null,
      rows: entries.reduce((sum, entry) => sum + entry.rows, 0),
      promptRows,
      sampledTokens: entries.reduce((sum, entry) => sum + tokensOf(entry), 0),
      entries,
      maxNumSeqs: this.config.maxNumSeqs,
      maxNumBatchedTokens: this.config.maxNumBatchedTokens,
      numRunning: running.filter(isOpen).length,
      numWaiting: waitingIds.length,
      waitingIds: waitingIds.slice(0, MAX_WAITING_IDS),
      kvBlocksUsed: this.#blocks.numUsed,
      numResidentTokens: this.#blocks.numUsed * this.model.blockSize,
      kvBlocksCached: this.#blocks.numCached,
      kvBlocksTotal: this.model.numGpuBlocks,
      preempted: preempted.map(({ id }) => ({ requestId: id, index: 0 })),
      preemptionsTotal: this.#preemptions,
      prefixCacheQueriesTotal: 0,
      prefixCacheHitsTotal: 0,
    };
    this.#metrics.observeStep(report);
    this.#emit("step", report);
    this.#emit("words", { status: "answered", step: this.#steps, answers: this.#answers });
    this.#answers = [];
    for (const [i, request] of running.entries()) {
      if (request.numOutput === 1) this.#report(request, "first-token", null);
      const finishReason = entries[i]?.finishReason;
      if (finishReason) this.#report(request, "finished", finishReason);
    }
  }

  /** The engine dies: everything open is rejected, then `fatal` is emitted. */
  die(error: ChorusErrorData): void {
    this.#failAll(fromErrorData(error));
    this.#emit("fatal", error);
  }

  notifyAlert(alert: Alert): void {
    this.#emit("alert", alert);
  }

  /** The device is lost, or replaced. */
  reportDevice(report: DeviceReport): void {
    this.#emit("device", report);
  }

  async stats(): Promise<EngineStats> {
    const { numUsed } = this.#blocks;
    return {
      ...NO_STATS,
      num_requests_running: this.#requests.length,
      kv_cache_usage_perc: numUsed / this.model.numGpuBlocks,
      engine_steps_total: this.#steps,
      num_gpu_blocks: this.model.numGpuBlocks,
      num_gpu_blocks_free: this.model.numGpuBlocks - numUsed,
      max_num_seqs: this.config.maxNumSeqs,
      slot_usage_perc: this.#requests.length / this.config.maxNumSeqs,
      num_resident_tokens: numUsed * this.model.blockSize,
      max_num_batched_tokens: this.config.maxNumBatchedTokens,
    };
  }

  async kvCacheMap(): Promise<KvCacheMap> {
    return this.#blocks.map();
  }

  async kvBlockTokens(block: number): Promise<KvBlockTokens> {
    return this.#blocks.tokensOf(block);
  }

  async update(changes: EngineChanges): Promise<ResolvedEngineConfig> {
    this.updates.push(changes);
    this.#config = changeEngineConfig(this.#config, changes, this.sizes);
    this.#emit("config", this.config);
    return this.config;
  }

  async tokenize({ prompt, messages = [] }: TokenizeRequest): Promise<TokenizeResponse> {
    const text = prompt ?? messages?.map(textOf).join("\n") ?? "";
    const tokens = wordsIn(text).map((_, index) => index);
    return { count: tokens.length, max_model_len: this.model.contextLength, tokens, token_strs: null };
  }

  async detokenize({ tokens }: DetokenizeRequest): Promise<DetokenizeResponse> {
    return { prompt: tokens.map((id) => `word${id}`).join(" ") };
  }

  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    return createHandler(this)(new Request(input, init));
  }

  async metrics(): Promise<string> {
    return prometheusText(await this.stats(), this.#metrics, this.model);
  }

  async dispose(): Promise<void> {
    this.#failAll(new ChorusError("engine_disposed", "The engine was disposed."));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }

  #submit(
    body: ChatCompletionRequest,
    options: CreateOptions = {},
    prefix = "chatcmpl",
  ): CompletionStream<ChatCompletionChunk> {
    const promptTokens = body.messages.reduce((sum, message) => sum + wordsIn(textOf(message)).length, 0);
    const { contextLength } = this.model;
    const room = contextLength - promptTokens;
    if (room < 1 || promptTokens + (body.max_tokens ?? 0) > contextLength) {
      const given = `The messages have ${promptTokens} tokens and max_tokens is ${body.max_tokens ?? "not given"}`;
      const message = `${given}; the model takes ${contextLength} tokens in all. Shorten the messages.`;
      throw new ChorusError("context_length_exceeded", message, "messages");
    }
    this.accepted.push(structuredClone(body));
    const queue = new ChunkQueue();
    const request: FakeRequest = {
      id: `${prefix}-${body.request_id ?? this.#nextId++}`,
      words: wordsIn(this.#answerTo(body)),
      reasoning: new ReasoningSplitter({ state: "may open", written: "" }),
      promptTokens,
      maxTokens: body.max_tokens ?? room,
      logprobs: body.logprobs
        ? (word) => logprobsOf(word, body.top_logprobs ?? 0, body.return_tokens_as_token_ids ?? false)
        : null,
      hasMetrics: body.include_metrics ?? false,
      numAnswers: body.n ?? 1,
      arrivalMs: performance.now(),
      push: queue.push,
      fail: queue.fail,
      numOutput: 0,
      firstTokenMs: null,
    };
    this.#requests.push(request);
    this.#report(request, "queued", null);
    const [text, question] = [body.messages.map(textOf).join("\n"), textOf(body.messages.at(-1))];
    const requested = askedBody(text, request.maxTokens, body);
    this.#emit("words", { status: "asked", requestId: request.id, question, text, body: requested });
    options.signal?.addEventListener("abort", () => {
      if (!this.#requests.includes(request)) return;
      this.#leave(request.id);
      this.#report(request, "finished", "abort");
      request.fail(new ChorusError("internal_error", "This operation was aborted."));
    });
    return queue.read();
  }

  #chooseRunning(ranBefore: readonly FakeRequest[]): FakeRequest[] {
    if (this.config.batchingMode === "static" && ranBefore.length > 0) return [...ranBefore];
    return this.#requests.slice(0, this.config.batchingMode === "sequential" ? 1 : this.config.maxNumSeqs);
  }

  #leave(requestId: string): void {
    this.#requests = this.#requests.filter(({ id }) => id !== requestId);
    this.#blocks.release(requestId);
  }

  /** Returns the rest of the scripted answer after a continued beginning. */
  #answerTo({ messages, continue_final_message: isContinued }: ChatCompletionRequest): string {
    const said = isContinued ? textOf(messages.at(-1)) : "";
    const asked = isContinued ? messages.slice(0, -1) : messages;
    const answer = this.#options.answer?.(asked as readonly ChatMessage[]) ?? "Yes.";
    return answer.slice(answer.startsWith(said) ? said.length : 0);
  }

  #advance(request: FakeRequest, atMs: number): StepEntry {
    const isFirst = request.numOutput === 0;
    const drafted = isFirst ? 0 : (this.#options.numDrafts ?? 0);
    const accepted = drafted && request.numOutput % (drafted + 1);
    const word = request.words.slice(request.numOutput, request.numOutput + 1 + accepted).join("");
    request.numOutput += 1 + accepted;
    const isLast = request.numOutput >= request.words.length;
    const finishReason = isLast ? "stop" : request.numOutput >= request.maxTokens ? "length" : null;
    const { reasoning, content } = request.reasoning.push(word, finishReason !== null);
    request.firstTokenMs ??= atMs;
    request.push({
      id: request.id,
      object: "chat.completion.chunk",
      created: 0,
      model: this.model.name,
      choices: Array.from({ length: request.numAnswers }, (_, index) => ({
        index,
        delta: {
          ...(reasoning !== "" && { reasoning_content: reasoning }),
          content: index === 0 ? content : content.toUpperCase(),
        },
        logprobs: request.logprobs?.(word) ?? null,
        finish_reason: finishReason,
      })),
      ...(request.hasMetrics && finishReason !== null && { metrics: SAMPLE_METRICS }),
    });
    const promptRows = isFirst ? request.promptTokens : 0;
    const start = isFirst ? 0 : request.promptTokens + request.numOutput - 2 - accepted;
    const rows = promptRows || 1 + drafted;
    const given = this.#blocks.grow(request.id, start + rows);
    this.#answers.push({ requestId: request.id, index: 0, tokenIds: tokenIdsOf(word), text: word });
    return {
      requestId: request.id,
      index: 0,
      start,
      rows,
      promptRows,
      cachedTokens: 0,
      sampled: true,
      drafted,
      accepted,
      finishReason,
      slot: this.#running.indexOf(request),
      ...given,
      blocksGivenBack: 0,
    };
  }

  #report(request: FakeRequest, status: RequestReport["status"], finishReason: FinishReason | null): void {
    const { id: requestId, promptTokens, maxTokens, arrivalMs, firstTokenMs, numOutput: outputTokens } = request;
    const finishedMs = status === "finished" ? performance.now() : null;
    const scheduledMs = firstTokenMs === null ? null : arrivalMs;
    const times = { arrivalMs, scheduledMs, firstTokenMs, finishedMs };
    const drafts = { draftTokens: 0, acceptedTokens: 0 };
    const counts = { promptTokens, outputTokens, maxTokens, cachedTokens: 0, ...drafts, numPreemptions: 0 };
    const report: RequestReport = { requestId, index: 0, status, ...counts, ...times, finishReason };
    this.#metrics.observeRequest(report);
    this.#emit("request", report);
  }

  #failAll(error: ChorusError): void {
    const open = this.#requests;
    this.#requests = [];
    for (const request of open) request.fail(error);
  }

  #emit<Name extends keyof EngineEvents>(event: Name, payload: EngineEvents[Name]): void {
    for (const entry of this.#listeners) if (entry.event === event) entry.listener(payload as never);
  }
}
