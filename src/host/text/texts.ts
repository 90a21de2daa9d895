import type { ParsedRequest } from "../../api/parsed-request.ts";
import { ChorusError } from "../../protocol/errors.ts";
import { isDataCloneError, notPlainData } from "../../protocol/plain-data.ts";
import type { RenderChatRequest, RenderedChat } from "../../protocol/rendered-chat.ts";
import type { GenerationRequest } from "../../protocol/service.ts";
import type { TokenizeRequest, TokenizeResponse } from "../../protocol/tokenize.ts";
import {
  LimitedThread,
  ThreadEnded,
  ThreadFailed,
  ThreadNotStarted,
  TookTooLong,
} from "../../threads/limited-thread.ts";
import { textPortInPlace } from "./port-in-place.ts";
import type {
  PackedTextModel,
  TextCall,
  TextContext,
  TextModel,
  TextPort,
  TextTraits,
  TextValue,
} from "./text-calls.ts";

export interface TextLimits {
  /** Building the tokenizer. */
  readonly startMs: number;
  /** One request's template and tokens. */
  readonly requestMs: number;
  /** How long others wait for one that is slow. Then it keeps the thread for itself. */
  readonly patienceMs: number;
  /** Threads that slow requests may keep at once. */
  readonly maxSlow: number;
}

export const DEFAULT_TEXT_LIMITS: TextLimits = { startMs: 60_000, requestMs: 10_000, patienceMs: 1000, maxSlow: 2 };

type TextThread = LimitedThread<TextCall, TextValue>;

interface Started {
  readonly thread: TextThread;
  readonly traits: Promise<TextTraits>;
}

const WHAT = "What makes tokens of texts";

/**
 * Templates and tokenizing, in a thread beside the engine's: streams don't wait for a long text, and one that takes for ever
 * costs its own request. It keeps the thread until that is ended; those behind it soon go on in a new one, in their order.
 */
export class Texts {
  #openPort: () => TextPort;
  /** The start message of threads: unpacked until the first thread has packed it, since it is large. */
  #model: TextModel | PackedTextModel;
  readonly #limits: TextLimits;
  #traits: TextTraits | null = null;
  #started: Promise<Started> | null = null;
  /** Threads that slow requests keep for themselves. */
  readonly #slow = new Set<TextThread>();
  #isDisposed = false;

  private constructor(openPort: () => TextPort, model: TextModel, limits: TextLimits) {
    this.#openPort = openPort;
    this.#model = model;
    this.#limits = limits;
  }

  /**
   * @param openPort opens a thread; where none can be opened, everything runs in place
   * @param model is kept, compressed: its files may be gone when another thread has to be started
   * @throws ChorusError model_unsupported, model_invalid
   */
  static async open(openPort: () => TextPort, model: TextModel, limits = DEFAULT_TEXT_LIMITS): Promise<Texts> {
    const texts = new Texts(openPort, model, limits);
    try {
      texts.#traits = await texts.#start();
      return texts;
    } catch (error) {
      texts.dispose();
      throw error;
    }
  }

  get readsSystemPrompt(): boolean {
    return this.#traits?.readsSystemPrompt ?? false;
  }

  /**
   * Returns a checked request. Prompts whose request gives no seed have UNSEEDED.
   * @throws ChorusError naming the field; invalid_value for a text that takes too long, or too much memory
   */
  async parse(request: GenerationRequest, context: TextContext): Promise<ParsedRequest> {
    const param = request.endpoint === "completions" ? "prompt" : "messages";
    return (await this.#ask({ type: "parse", request, context }, request.body, param)) as ParsedRequest;
  }

  /** @throws ChorusError as `parse` does */
  async render(body: RenderChatRequest): Promise<RenderedChat> {
    return (await this.#ask({ type: "render", body }, body, "messages")) as RenderedChat;
  }

  /** @throws ChorusError as `parse` does */
  async tokenize(body: TokenizeRequest, context: TextContext): Promise<TokenizeResponse> {
    return (await this.#ask({ type: "tokenize", body, context }, body, "prompt")) as TokenizeResponse;
  }

  /** Ends the threads. Idempotent. */
  dispose(): void {
    this.#isDisposed = true;
    for (const thread of this.#slow) thread.end(disposed());
    void this.#started?.then(({ thread }) => thread.end(disposed())).catch(() => undefined);
  }

  /** Starts the first thread, or what stands for it where there can be none. */
  async #start(): Promise<TextTraits> {
    try {
      const { traits } = await this.#current();
      return await traits;
    } catch (error) {
      if (error instanceof ThreadEnded) return this.#start(); // its page is gone
      if (!(error instanceof ThreadNotStarted)) throw error;
      this.#openPort = textPortInPlace;
      this.#started = null;
      return (await this.#current()).traits;
    }
  }

  async #ask(call: TextCall, body: object, param: string): Promise<TextValue> {
    for (;;) {
      const { thread } = await this.#current();
      try {
        return await thread.ask(call, this.#limits.requestMs, this.#limits.patienceMs);
      } catch (error) {
        if (error instanceof ThreadEnded) continue; // for another's text
        throw this.#refusal(error, body, param);
      }
    }
  }

  #refusal(error: unknown, body: object, param: string): unknown {
    if (isDataCloneError(error)) return notPlainData("A request", body, error);
    const tooMuch =
      error instanceof TookTooLong
        ? `takes longer than ${this.#limits.requestMs / 1000} s`
        : error instanceof ThreadFailed
          ? "takes more memory than it may"
          : null;
    if (tooMuch === null) return error;
    const message = `${param} ${tooMuch} to become tokens, with this model's chat template and patterns; make it shorter.`;
    return new ChorusError("invalid_value", message, param);
  }

  /** Returns the thread that takes calls now. All who wait for it go on in the order in which they came. */
  async #current(): Promise<Started> {
    for (;;) {
      if (this.#isDisposed) throw disposed();
      const starting = (this.#started ??= this.#startThread());
      try {
        const started = await starting;
        if (!started.thread.isEnded) return started;
      } catch (error) {
        if (this.#started === starting) this.#started = null;
        throw error;
      }
      if (this.#started === starting) this.#started = null;
    }
  }

  /** @throws ThreadNotStarted where no worker may be opened: by the page's policy, or since its script lies elsewhere */
  #tryPort(): TextPort {
    try {
      return this.#openPort();
    } catch (error) {
      throw new ThreadNotStarted(`${WHAT} has no thread: ${String(error)}`);
    }
  }

  async #startThread(): Promise<Started> {
    const port = this.#tryPort();
    const mayLeave = () => {
      for (const one of this.#slow) if (!one.isLeft) this.#slow.delete(one);
      if (this.#slow.size >= this.#limits.maxSlow) return false;
      this.#slow.add(thread);
      return true;
    };
    const thread: TextThread = new LimitedThread(port, WHAT, mayLeave);
    const model = this.#model;
    const traits = thread.ask({ type: "start", model }, this.#limits.startMs).catch((error: unknown) => {
      const late = new ChorusError("model_unsupported", "This model's tokenizer takes too long to be built.");
      const reason = error instanceof Error && !(error instanceof TookTooLong) ? error : late;
      thread.end(reason);
      throw reason;
    });
    const packing = traits.then(() => (model instanceof Uint8Array ? undefined : this.#pack(thread)));
    packing.catch(() => undefined); // callers get the error; without the bytes the next thread packs
    return { thread, traits: traits as Promise<TextTraits> };
  }

  async #pack(thread: TextThread): Promise<void> {
    this.#model = (await thread.ask({ type: "pack" }, this.#limits.startMs)) as PackedTextModel;
  }
}

const disposed = () => new ChorusError("engine_disposed", "The engine was disposed of.");
