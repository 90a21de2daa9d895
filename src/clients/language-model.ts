// The Prompt API (LanguageModel, as Chrome has it) over an engine. Sessions of one page share its steps and its cache.

import type { ChorusEngine } from "../protocol/engine.ts";
import { ChorusError } from "../protocol/errors.ts";
import type { ChatMessage, GenerationFields } from "../protocol/openai.ts";
import { lazyEngine, type Availability, type EngineSource } from "./engine-source.ts";
import {
  constraintFields,
  notSupported,
  parseInput,
  samplingFields,
  type PromptInput,
  type PromptMessage,
  type ResponseConstraint,
  type SamplingOptions,
} from "./prompt-input.ts";

interface Expected {
  readonly type: string;
  readonly languages?: readonly string[];
}

export interface LanguageModelCoreOptions extends SamplingOptions {
  readonly expectedInputs?: readonly Expected[];
  readonly expectedOutputs?: readonly Expected[];
  readonly tools?: readonly unknown[];
}

export interface LanguageModelCreateOptions extends LanguageModelCoreOptions {
  readonly initialPrompts?: readonly PromptMessage[];
  readonly signal?: AbortSignal;
  /** Gets a target of "downloadprogress" events, whose `loaded` goes from 0 to 1. */
  readonly monitor?: (monitor: EventTarget) => void;
}

export interface LanguageModelPromptOptions {
  readonly responseConstraint?: ResponseConstraint;
  /** Constraints are never written into the prompt: the answer is held to them. */
  readonly omitResponseConstraintInput?: boolean;
  readonly signal?: AbortSignal;
}

/** One conversation. Its prompts are answered in turn; those of different sessions are batched. */
export class LanguageModelSession extends EventTarget {
  readonly #engine: ChorusEngine;
  readonly #sampling: Partial<GenerationFields>;
  readonly #destroyed = new AbortController();
  #messages: readonly ChatMessage[];
  #contextUsage: number;
  /** The prompt before. */
  #last: Promise<unknown> = Promise.resolve();
  oncontextoverflow: ((event: Event) => void) | null = null;

  constructor(
    engine: ChorusEngine,
    sampling: Partial<GenerationFields>,
    messages: readonly ChatMessage[],
    contextUsage: number,
  ) {
    super();
    this.#engine = engine;
    this.#sampling = sampling;
    this.#messages = messages;
    this.#contextUsage = contextUsage;
    this.addEventListener("contextoverflow", (event) => this.oncontextoverflow?.(event));
  }

  /** Tokens of the conversation so far. */
  get contextUsage(): number {
    return this.#contextUsage;
  }

  /** Most tokens that a conversation can have. */
  get contextWindow(): number {
    return this.#engine.model.contextLength;
  }

  async prompt(input: PromptInput, options: LanguageModelPromptOptions = {}): Promise<string> {
    let text = "";
    for await (const piece of this.#answer(input, options)) text += piece;
    return text;
  }

  /** Gives the answer in pieces. */
  promptStreaming(input: PromptInput, options: LanguageModelPromptOptions = {}): ReadableStream<string> {
    const leaving = new AbortController();
    const pieces = this.#answer(input, options, leaving.signal);
    // Asked for now: the prompts of a session are answered in the order of the calls.
    const first = pieces.next();
    first.catch(() => undefined);
    let isFirst = true;
    return new ReadableStream<string>({
      async pull(controller) {
        const { done, value } = await (isFirst ? first : pieces.next());
        isFirst = false;
        if (done) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        leaving.abort(new DOMException("The stream was cancelled.", "AbortError"));
        await pieces.return(undefined);
      },
    });
  }

  /** Adds to the conversation without an answer. What was added is computed now, so that the next prompt need not. */
  append(input: PromptInput, { signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
    return this.#inTurn(async () => {
      const messages = [...this.#messages, ...parseInput(input).messages];
      const { usage } = await this.#engine.chat.completions
        .create({ messages, max_tokens: 1, stream: false }, this.#signals(signal))
        .catch((error: unknown) => Promise.reject(asQuotaError(error)));
      this.#messages = messages;
      this.#contextUsage = usage.prompt_tokens;
    });
  }

  /** A fork, which goes on by itself. It shares the cache blocks of the conversation so far. */
  async clone({ signal }: { readonly signal?: AbortSignal } = {}): Promise<LanguageModelSession> {
    signal?.throwIfAborted();
    await this.#last.catch(() => undefined);
    this.#destroyed.signal.throwIfAborted();
    return new LanguageModelSession(this.#engine, this.#sampling, this.#messages, this.#contextUsage);
  }

  /** Returns how many tokens an input would add. */
  async measureContextUsage(input: PromptInput, _options: LanguageModelPromptOptions = {}): Promise<number> {
    const before = await countTokens(this.#engine, this.#messages);
    return (await countTokens(this.#engine, [...this.#messages, ...parseInput(input).messages])) - before;
  }

  /** Ends the session and what it is being asked. */
  destroy(): void {
    this.#destroyed.abort(new DOMException("The session was destroyed.", "AbortError"));
  }

  async *#answer(
    input: PromptInput,
    { responseConstraint, signal }: LanguageModelPromptOptions,
    leaving?: AbortSignal,
  ): AsyncGenerator<string, undefined> {
    const { messages: added, isContinued } = parseInput(input);
    const constraint = constraintFields(responseConstraint);
    const before = this.#last;
    let endTurn: () => void = () => undefined;
    this.#last = new Promise<void>((resolve) => (endTurn = resolve));
    await before;
    try {
      const kept = await this.#makeRoom(added);
      const messages = [...kept, ...added];
      const body = { messages, ...this.#sampling, ...constraint, continue_final_message: isContinued };
      const chunks = await this.#engine.chat.completions.create(
        { ...body, stream: true, stream_options: { include_usage: true } },
        this.#signals(signal, leaving),
      );
      let text = "";
      let totalTokens = 0;
      for await (const { choices, usage } of chunks) {
        const piece = choices[0]?.delta.content ?? "";
        text += piece;
        totalTokens = usage?.total_tokens ?? totalTokens;
        if (piece !== "") yield piece;
      }
      this.#messages = isContinued ? continued(messages, text) : [...messages, { role: "assistant", content: text }];
      this.#contextUsage = totalTokens;
    } catch (error) {
      throw asQuotaError(error);
    } finally {
      endTurn();
    }
  }

  /** Returns the conversation without its oldest turns, where an input would not fit behind all of it. */
  async #makeRoom(added: readonly ChatMessage[]): Promise<readonly ChatMessage[]> {
    const system = this.#messages.filter(({ role }) => role === "system");
    let rest = this.#messages.filter(({ role }) => role !== "system");
    while (rest.length > 0 && (await countTokens(this.#engine, [...system, ...rest, ...added])) >= this.contextWindow) {
      const nextTurn = rest.findIndex(({ role }, i) => i > 0 && role === "user");
      rest = nextTurn < 0 ? [] : rest.slice(nextTurn);
    }
    const kept = [...system, ...rest];
    if (kept.length < this.#messages.length) this.dispatchEvent(new Event("contextoverflow"));
    return kept;
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }

  #signals(...signals: readonly (AbortSignal | undefined)[]): { readonly signal: AbortSignal } {
    const given = signals.filter((signal) => signal !== undefined);
    return { signal: AbortSignal.any([this.#destroyed.signal, ...given]) };
  }
}

function continued(messages: readonly ChatMessage[], text: string): readonly ChatMessage[] {
  const last = messages.at(-1);
  return last ? [...messages.slice(0, -1), { ...last, content: last.content + text }] : messages;
}

async function countTokens(engine: ChorusEngine, messages: readonly ChatMessage[]): Promise<number> {
  return messages.length === 0 ? 0 : (await engine.tokenize({ messages: [...messages] })).count;
}

/** The browsers' error for a prompt that is too long. */
function asQuotaError(error: unknown): unknown {
  const isTooLong = error instanceof ChorusError && error.code === "context_length_exceeded";
  return isTooLong ? new DOMException(error.message, "QuotaExceededError") : error;
}

/** The two ways to a session that the Prompt API has. */
export interface LanguageModelApi {
  availability(options?: LanguageModelCoreOptions): Promise<Availability>;
  create(options?: LanguageModelCreateOptions): Promise<LanguageModelSession>;
}

/** Returns the Prompt API over an engine. */
export function languageModelApi(source: EngineSource): LanguageModelApi {
  const lazy = lazyEngine(source);
  return {
    async availability(options = {}) {
      return isSupported(options) ? lazy.availability() : "unavailable";
    },
    async create({ initialPrompts = [], signal, monitor, ...core } = {}) {
      signal?.throwIfAborted();
      if (!isSupported(core)) throw notSupported("This model reads and writes text only, and calls no tools.");
      const sampling = samplingFields(core);
      const { messages } = parseInput(initialPrompts);
      const progress = new EventTarget();
      monitor?.(progress);
      const notify = (loaded: number) => progress.dispatchEvent(progressEvent(loaded));
      const engine = await lazy.open(
        ({ stage, done, total }) => stage === "weights" && total > 0 && notify(done / total),
      );
      signal?.throwIfAborted();
      notify(1);
      return new LanguageModelSession(engine, sampling, messages, await countTokens(engine, messages));
    },
  };
}

/** Makes an engine the page's `LanguageModel` and hides the browser's own, if there is one. Returns what undoes this. */
export function installLanguageModel(source: EngineSource): () => void {
  const global = globalThis as { LanguageModel?: unknown };
  const before = Object.getOwnPropertyDescriptor(global, "LanguageModel");
  Object.defineProperty(global, "LanguageModel", {
    value: languageModelApi(source),
    configurable: true,
    writable: true,
  });
  return () => {
    if (before) Object.defineProperty(global, "LanguageModel", before);
    else delete global.LanguageModel;
  };
}

function isSupported({ expectedInputs = [], expectedOutputs = [], tools = [] }: LanguageModelCoreOptions): boolean {
  return tools.length === 0 && [...expectedInputs, ...expectedOutputs].every(({ type }) => type === "text");
}

/** Node has no ProgressEvent. */
function progressEvent(loaded: number): Event {
  return Object.assign(new Event("downloadprogress"), { loaded, total: 1 });
}
