// Text to tokens and back: vLLM's /tokenize and /detokenize.

import type { ChatCompletionRequest, ChatMessageParam } from "./openai.ts";
import type { ToolChoice } from "./openai-tools.ts";

/** Either a text or a chat. */
export interface TokenizeRequest {
  /** The name of the engine's model. [the engine's] */
  model?: string | null;
  /** A text. Not together with `messages`. [none] */
  prompt?: string | null;
  /** A chat, as in a chat request. Not together with `prompt`. [none] */
  messages?: readonly ChatMessageParam[] | null;
  /** With `prompt`, as in a completion request. [true] */
  add_special_tokens?: boolean | null;
  /** With `prompt`, as in a completion request. [true] */
  parse_special_tokens?: boolean | null;
  /** With `messages`, as in a chat request. [false] */
  continue_final_message?: boolean | null;
  /** With `messages`, as in a chat request. [none] */
  tools?: ChatCompletionRequest["tools"];
  /** With `messages`, as in a chat request. ["auto"] */
  tool_choice?: ToolChoice | null;
  /** With `messages`, as in a chat request. [none] */
  chat_template_kwargs?: Record<string, unknown> | null;
  /** true: the answer has `token_strs`. [false] */
  return_token_strs?: boolean | null;
}

export interface TokenizeResponse {
  count: number;
  /** Longest prompt plus output. */
  max_model_len: number;
  tokens: number[];
  /** Each token's text; null where it was not asked for. */
  token_strs: string[] | null;
}

export interface DetokenizeRequest {
  /** The name of the engine's model. [the engine's] */
  model?: string | null;
  /** The tokens whose text is requested. [; token ids] */
  tokens: number[];
}

export interface DetokenizeResponse {
  /** Control tokens are in it by their names. */
  prompt: string;
}
