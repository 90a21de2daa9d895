import type { Answerer, RemoteModel } from "./answerer.ts";
import type {
  ChatCompletionChunk,
  ChatCompletionRequest,
  Completion,
  CompletionRequest,
  CompletionStream,
} from "../../index.ts";
import { softwareOf } from "./server-software.ts";
import type { ServerAccess } from "./ask-server.ts";
import type { RemoteChunk } from "./read-chunk.ts";
import { askForAnswer, type RemoteObserver, type RemotePatience } from "./remote-answer.ts";
import { writeRequest } from "./write-request.ts";

export interface RemoteEngineOptions extends ServerAccess, RemoteModel {
  /** `owned_by` in /v1/models: which software it is. [null: unknown] */
  readonly ownedBy?: string | null;
  /** Observes each request, by its request_id: the only figures of a server without metrics. */
  readonly observer?: RemoteObserver;
  readonly patience?: Partial<RemotePatience>;
}

/** A model on a server of OpenAI's API. It streams; a request that breaks off is continued if the server can. */
export class RemoteEngine implements Answerer {
  readonly model: Answerer["model"];
  readonly #options: RemoteEngineOptions;

  constructor(options: RemoteEngineOptions) {
    this.#options = options;
    this.model = { name: options.model, chat: true, contextLength: null };
  }

  readonly chat: Answerer["chat"] = {
    completions: {
      create: async (body, { signal } = {}) =>
        chatChunks(await this.#ask("/chat/completions", body, signal), this.model),
    },
  };

  readonly completions: Answerer["completions"] = {
    create: async (body, { signal } = {}) => textChunks(await this.#ask("/completions", body, signal), this.model),
  };

  #ask(
    path: string,
    body: ChatCompletionRequest | CompletionRequest,
    signal: AbortSignal | undefined,
  ): Promise<Chunks> {
    const software = softwareOf(this.#options.ownedBy ?? null);
    return askForAnswer({
      ...this.#options,
      path,
      name: body.request_id ?? "",
      canContinue: software.continues !== null && !body.response_format && !("tools" in body),
      write: (soFar, numTokens) => writeRequest(body, this.#options.model, software, soFar, numTokens),
      signal,
    });
  }
}

type Chunks = AsyncIterable<RemoteChunk>;

const constantsOf = ({ name }: Answerer["model"]) => ({ id: "", created: 0, model: name });

async function* chatChunks(answer: Chunks, model: Answerer["model"]): CompletionStream<ChatCompletionChunk> {
  for await (const { text, reasoning, calls, logprobs, finishReason } of answer) {
    const delta = { content: text, ...(reasoning !== "" && { reasoning_content: reasoning }), tool_calls: [...calls] };
    const choice = { index: 0, delta, logprobs: logprobs && { content: [...logprobs] }, finish_reason: finishReason };
    yield { ...constantsOf(model), object: "chat.completion.chunk", choices: [choice] };
  }
}

async function* textChunks(answer: Chunks, model: Answerer["model"]): CompletionStream<Completion> {
  for await (const { text, finishReason } of answer) {
    const choice = { index: 0, text, logprobs: null, finish_reason: finishReason };
    yield { ...constantsOf(model), object: "text_completion", choices: [choice] };
  }
}
