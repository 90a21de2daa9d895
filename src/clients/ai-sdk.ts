// A language model of Vercel's AI SDK over an engine in the same page: no HTTP between them, and no dependency but types.

import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FinishReason,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
  LanguageModelV4Usage,
  SharedV4Warning,
} from "@ai-sdk/provider";

import { ChorusError } from "../protocol/errors.ts";
import type {
  ChatCompletionChunk,
  ChatCompletionRequest,
  ChatMessage,
  FinishReason,
  ResponseFormat,
  Usage,
} from "../protocol/openai.ts";
import type { LoadProgress } from "../protocol/reports.ts";
import { LazyEngine, type Availability, type EngineSource } from "./engine-source.ts";

/** The text's id in a stream. There is one. */
const TEXT_ID = "0";

/**
 * A model for streamText, generateText and useChat.
 *
 *     const model = new ChorusLanguageModel((onProgress) => createEngine({ model: "/models/name/", onProgress }));
 *     const { textStream } = streamText({ model, prompt: "Hello" });
 *
 * Fields of the engine that the AI SDK does not know go into `providerOptions.chorus`, as in a chat request.
 */
export class ChorusLanguageModel implements LanguageModelV4 {
  readonly specificationVersion = "v4";
  readonly provider = "chorus";
  readonly modelId: string;
  readonly supportedUrls = {};
  readonly #engine: LazyEngine;

  /** @param modelId what the AI SDK's reports call it; requests go to the engine's own model, whatever its name */
  constructor(source: EngineSource, modelId = typeof source === "function" ? "chorus" : source.model.name) {
    this.#engine = new LazyEngine(source);
    this.modelId = modelId;
  }

  availability(): Promise<Availability> {
    return Promise.resolve(this.#engine.availability);
  }

  /** Loads the engine now, and tells how far it is. */
  async createSessionWithProgress(onProgress?: (progress: LoadProgress) => void): Promise<this> {
    await this.#engine.open(onProgress);
    return this;
  }

  async doGenerate(options: LanguageModelV4CallOptions): Promise<LanguageModelV4GenerateResult> {
    const engine = await this.#engine.open();
    const { body, warnings } = chatRequest(options);
    const { choices, usage, id, created, model } = await engine.chat.completions.create(
      { ...body, stream: false },
      signalOf(options),
    );
    const [choice] = choices;
    return {
      content: [{ type: "text", text: choice?.message.content ?? "" }],
      finishReason: finishReason(choice?.finish_reason ?? null),
      usage: usageOf(usage),
      warnings,
      request: { body },
      response: { id, modelId: model, timestamp: new Date(created * 1000) },
    };
  }

  async doStream(options: LanguageModelV4CallOptions): Promise<LanguageModelV4StreamResult> {
    const engine = await this.#engine.open();
    const { body, warnings } = chatRequest(options);
    const chunks = await engine.chat.completions.create(
      { ...body, stream: true, stream_options: { include_usage: true } },
      signalOf(options),
    );
    const parts = streamParts(chunks, warnings);
    const stream = new ReadableStream<LanguageModelV4StreamPart>({
      async pull(controller) {
        const { done, value } = await parts.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: async () => void (await parts.return(undefined)),
    });
    return { stream, request: { body } };
  }
}

function signalOf({ abortSignal }: LanguageModelV4CallOptions) {
  return abortSignal ? { signal: abortSignal } : {};
}

async function* streamParts(
  chunks: AsyncIterable<ChatCompletionChunk>,
  warnings: SharedV4Warning[],
): AsyncGenerator<LanguageModelV4StreamPart, undefined> {
  yield { type: "stream-start", warnings };
  let usage: Usage | null = null;
  let ending: FinishReason | null = null;
  let isOpen = false;
  for await (const chunk of chunks) {
    if (!isOpen) {
      yield {
        type: "response-metadata",
        id: chunk.id,
        modelId: chunk.model,
        timestamp: new Date(chunk.created * 1000),
      };
      yield { type: "text-start", id: TEXT_ID };
      isOpen = true;
    }
    const [choice] = chunk.choices;
    if (choice?.delta.content) yield { type: "text-delta", id: TEXT_ID, delta: choice.delta.content };
    ending = choice?.finish_reason ?? ending;
    usage = chunk.usage ?? usage;
  }
  yield { type: "text-end", id: TEXT_ID };
  yield { type: "finish", finishReason: finishReason(ending), usage: usageOf(usage) };
}

function finishReason(reason: FinishReason | null): LanguageModelV4FinishReason {
  const unified = reason === "abort" || reason === null ? "interrupted" : reason;
  return { unified, raw: reason ?? undefined };
}

function usageOf(usage: Usage | null): LanguageModelV4Usage {
  const total = usage?.prompt_tokens;
  const cacheRead = usage?.prompt_tokens_details.cached_tokens;
  const noCache = total === undefined || cacheRead === undefined ? undefined : total - cacheRead;
  const output = usage?.completion_tokens;
  return {
    inputTokens: { total, noCache, cacheRead, cacheWrite: undefined },
    outputTokens: { total: output, text: output, reasoning: undefined },
  };
}

function chatRequest(options: LanguageModelV4CallOptions): {
  body: ChatCompletionRequest;
  warnings: SharedV4Warning[];
} {
  const { responseFormat } = options;
  const warnings: SharedV4Warning[] = [];
  if (options.tools?.length) warnings.push({ type: "unsupported", feature: "tools" });
  if (options.reasoning && !["none", "provider-default"].includes(options.reasoning)) {
    warnings.push({ type: "unsupported", feature: "reasoning" });
  }
  const body: ChatCompletionRequest = {
    messages: options.prompt.map(messageOf),
    max_tokens: options.maxOutputTokens ?? null,
    temperature: options.temperature ?? null,
    top_p: options.topP ?? null,
    top_k: options.topK ?? null,
    presence_penalty: options.presencePenalty ?? null,
    frequency_penalty: options.frequencyPenalty ?? null,
    stop: options.stopSequences ?? null,
    seed: options.seed ?? null,
    response_format: responseFormat?.type === "json" ? jsonFormat(responseFormat.schema) : null,
    ...options.providerOptions?.["chorus"],
  };
  return { body, warnings };
}

function jsonFormat(schema: object | undefined): ResponseFormat {
  if (schema === undefined) return { type: "json_object" };
  return { type: "json_schema", json_schema: { schema: { ...schema } } };
}

function messageOf(message: LanguageModelV4CallOptions["prompt"][number]): ChatMessage {
  if (message.role === "system") return { role: "system", content: message.content };
  if (message.role === "tool") throw unsupported("messages of tools");
  const texts = message.content.map((part) => {
    if (part.type !== "text") throw unsupported(`a part of the type "${part.type}"`);
    return part.text;
  });
  return { role: message.role, content: texts.join("\n") };
}

function unsupported(what: string): ChorusError {
  return new ChorusError("unsupported_parameter", `This model reads text only; the prompt has ${what}.`, "prompt");
}
