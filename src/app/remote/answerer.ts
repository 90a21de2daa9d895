// The answerer of a pane's questions: the engine of this page, or a server with OpenAI's API.

import type {
  ChatCompletionChunk,
  ChatCompletionRequest,
  Completion,
  CompletionRequest,
  CompletionStream,
  CreateOptions,
  ModelCard,
  TokenizeRequest,
  TokenizeResponse,
} from "../../index.ts";

/** Every ChorusEngine is one. */
export interface Answerer {
  /** `contextLength` null: the server applies its own limits, also to the length of answers. */
  readonly model: Pick<ModelCard, "name" | "chat"> & { readonly contextLength: number | null };
  readonly chat: {
    readonly completions: {
      create(
        body: ChatCompletionRequest & { stream: true },
        options?: CreateOptions,
      ): Promise<CompletionStream<ChatCompletionChunk>>;
    };
  };
  readonly completions: {
    create(body: CompletionRequest & { stream: true }, options?: CreateOptions): Promise<CompletionStream<Completion>>;
  };
  /** Absent if the answerer doesn't show its tokens. */
  tokenize?(body: TokenizeRequest): Promise<TokenizeResponse>;
}

/** A model on a server, as a pane remembers its answerer. */
export interface RemoteModel {
  /** The connection's address, such as "https://host.example/v1". */
  readonly baseUrl: string;
  readonly model: string;
}
