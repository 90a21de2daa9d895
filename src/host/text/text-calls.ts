// The calls of a text thread, and its answers: plain data.

import type { ParsedRequest, RequestContext } from "../../api/parsed-request.ts";
import type { TokenizerSource } from "../../files/tokenizer.ts";
import type { ChatFrame } from "../../protocol/chat-frames.ts";
import type { RenderChatRequest, RenderedChat } from "../../protocol/rendered-chat.ts";
import type { GenerationRequest } from "../../protocol/service.ts";
import type { TokenizeRequest, TokenizeResponse } from "../../protocol/tokenize.ts";
import type { LimitedPort } from "../../threads/limited-thread.ts";

export interface TextModel {
  readonly tokenizer: TokenizerSource;
  /** For a model without its own template. */
  readonly frame: ChatFrame | null;
}

export interface TextTraits {
  /** As ChatFormat has it. */
  readonly readsSystemPrompt: boolean;
}

/** The data for checking a request, besides the model's tokenizer and template. */
export type TextContext = Omit<RequestContext, "tokenizer" | "chatFormat" | "nextSeed">;

export type TextCall =
  /** Comes first. The model may be as "pack" returned it. */
  | { readonly type: "start"; readonly model: TextModel | PackedTextModel }
  /** Comes once, after a start with what was read: returns the model as compressed bytes, for later threads. */
  | { readonly type: "pack" }
  | { readonly type: "parse"; readonly request: GenerationRequest; readonly context: TextContext }
  | { readonly type: "render"; readonly body: RenderChatRequest }
  | { readonly type: "tokenize"; readonly body: TokenizeRequest; readonly context: TextContext };

/** A TextModel as gzipped JSON. */
export type PackedTextModel = Uint8Array<ArrayBuffer>;

export type TextValue = TextTraits | PackedTextModel | ParsedRequest | RenderedChat | TokenizeResponse;
export type TextPort = LimitedPort<TextCall, TextValue>;

/** Seed of a prompt whose request gives none: the engine's side draws it. No request can give it. */
export const UNSEEDED = 2 ** 53;
