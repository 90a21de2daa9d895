import type { ParsedRequest } from "../../api/parsed-request.ts";
import { ChorusError } from "../../protocol/errors.ts";
import type { RenderChatRequest, RenderedChat } from "../../protocol/rendered-chat.ts";
import type { GenerationRequest } from "../../protocol/service.ts";
import type { TokenizeRequest, TokenizeResponse } from "../../protocol/tokenize.ts";
import { LimitedThread, ThreadEnded, TookTooLong } from "../../threads/limited-thread.ts";
import { UNSEEDED, type TextCall, type TextModel, type TextPort, type TextValue } from "./text-calls.ts";

export interface TextLimits {
  /** Building the tokenizer. */
  readonly startMs: number;
  /** One request's template and tokens. */
  readonly requestMs: number;
}

export const USUAL_TEXT_LIMITS: TextLimits = { startMs: 60_000, requestMs: 10_000 };

type TextThread = LimitedThread<TextCall, TextValue>;

/**
 * Templates and tokenizing in a thread beside the engine's: a text that takes for ever costs its own request. The thread is
 * then ended, and those that waited behind it go on in a new one.
 */
export class IsolatedText {
  readonly #model: TextModel;
  readonly #openPort: () => TextPort;
  readonly #nextSeed: () => number;
  readonly #limits: TextLimits;
  #thread: TextThread | null = null;
  #isDisposed = false;

  /** @param nextSeed seeds of prompts whose requests give none */
  constructor(model: TextModel, openPort: () => TextPort, nextSeed: () => number, limits = USUAL_TEXT_LIMITS) {
    this.#model = model;
    this.#openPort = openPort;
    this.#nextSeed = nextSeed;
    this.#limits = limits;
  }

  /** @throws ChorusError as in place; invalid_value for a text that takes too long */
  async parse(request: GenerationRequest): Promise<ParsedRequest> {
    const param = request.endpoint === "completions" ? "prompt" : "messages";
    const parsed = (await this.#ask({ type: "parse", request }, param)) as ParsedRequest;
    const prompts = parsed.prompts.map((prompt) =>
      prompt.params.seed === UNSEEDED ? { ...prompt, params: { ...prompt.params, seed: this.#nextSeed() } } : prompt,
    );
    return { ...parsed, prompts };
  }

  /** @throws ChorusError as `parse` does */
  async render(body: RenderChatRequest): Promise<RenderedChat> {
    return (await this.#ask({ type: "render", body }, "messages")) as RenderedChat;
  }

  /** @throws ChorusError as `parse` does */
  async tokenize(body: TokenizeRequest): Promise<TokenizeResponse> {
    return (await this.#ask({ type: "tokenize", body }, "prompt")) as TokenizeResponse;
  }

  /** Ends the thread. Idempotent. */
  dispose(): void {
    this.#isDisposed = true;
    this.#thread?.end(new ChorusError("engine_disposed", "The engine was disposed of."));
  }

  async #ask(call: TextCall, param: string): Promise<TextValue> {
    for (;;) {
      if (this.#isDisposed) throw new ChorusError("engine_disposed", "The engine was disposed of.");
      try {
        return await this.#current().ask(call, this.#limits.requestMs);
      } catch (error) {
        if (error instanceof ThreadEnded) continue; // another's text took too long
        if (!(error instanceof TookTooLong)) throw error;
        const message = `${param} takes longer than ${this.#limits.requestMs / 1000} s to tokenize with this model's own patterns; make it shorter.`;
        throw new ChorusError("invalid_value", message, param);
      }
    }
  }

  #current(): TextThread {
    if (this.#thread !== null && !this.#thread.isEnded) return this.#thread;
    const thread: TextThread = new LimitedThread(this.#openPort(), "What tokenizes texts");
    this.#thread = thread;
    thread.ask({ type: "start", model: this.#model }, this.#limits.startMs).catch((error: unknown) => {
      const late = new ChorusError("model_unsupported", "This model's tokenizer takes too long to be built.");
      thread.end(error instanceof Error && !(error instanceof TookTooLong) ? error : late);
    });
    return thread;
  }
}
