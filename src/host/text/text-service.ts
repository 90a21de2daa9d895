import { createChatFormat } from "../../api/chat-format.ts";
import { parseChatRequest } from "../../api/chat-request.ts";
import { parseCompletionRequest } from "../../api/completion-request.ts";
import type { ParsedRequest, RequestContext } from "../../api/parsed-request.ts";
import { renderChat } from "../../api/render-chat.ts";
import { tokenize } from "../../api/tokenize.ts";
import { ModelTokenizer, type TokenizerSource } from "../../files/tokenizer.ts";
import type { ChatFrame } from "../../protocol/catalogue.ts";
import { toErrorData } from "../../protocol/errors.ts";
import type { RenderChatRequest, RenderedChat } from "../../protocol/rendered-chat.ts";
import type { GenerationRequest } from "../../protocol/service.ts";
import type { TokenizeRequest, TokenizeResponse } from "../../protocol/tokenize.ts";
import type { ThreadAnswer } from "../../threads/limited-thread.ts";
import type { ThreadPort } from "../../threads/thread-port.ts";

/** What a thread of texts needs to know of the model, as plain data. */
export interface TextModel {
  readonly tokenizer: TokenizerSource;
  /** For a model without its own template. */
  readonly frame: ChatFrame | null;
  readonly context: Omit<RequestContext, "tokenizer" | "chatFormat" | "nextSeed">;
}

export type TextCall =
  /** Comes first. */
  | { readonly type: "start"; readonly model: TextModel }
  | { readonly type: "parse"; readonly request: GenerationRequest }
  | { readonly type: "render"; readonly body: RenderChatRequest }
  | { readonly type: "tokenize"; readonly body: TokenizeRequest };

export type TextValue = ParsedRequest | RenderedChat | TokenizeResponse | null;
type TextAnswer = ThreadAnswer<TextValue>;
export type TextPort = ThreadPort<TextCall, TextAnswer>;

/** Seed of a prompt whose request gives none: the engine's side draws it. */
export const UNSEEDED = -1;

/** @throws ChorusError naming the field */
export function parse({ endpoint, body }: GenerationRequest, context: RequestContext): ParsedRequest {
  return endpoint === "chat.completions" ? parseChatRequest(body, context) : parseCompletionRequest(body, context);
}

/** The thread's side: templates and tokenizing, plain data in, plain data out. */
export class TextService {
  #model: { readonly tokenizer: ModelTokenizer; readonly context: RequestContext } | null = null;

  answer(call: TextCall): TextAnswer {
    try {
      return { value: this.#valueOf(call) };
    } catch (error) {
      return { error: toErrorData(error) };
    }
  }

  #valueOf(call: TextCall): TextValue {
    if (call.type === "start") {
      const { tokenizer: source, frame, context } = call.model;
      const tokenizer = new ModelTokenizer(source);
      const chatFormat = createChatFormat(tokenizer, frame);
      this.#model = { tokenizer, context: { ...context, tokenizer, chatFormat, nextSeed: () => UNSEEDED } };
      return null;
    }
    if (this.#model === null) throw new Error("start comes first");
    const { tokenizer, context } = this.#model;
    switch (call.type) {
      case "parse":
        return parse(call.request, context);
      case "render":
        return renderChat(call.body, context.chatFormat, tokenizer);
      case "tokenize":
        return tokenize(call.body, context, tokenizer);
    }
  }
}
