// OpenAI's shapes for the two endpoints, with vLLM's extra fields. snake_case, as on the wire.

export interface ChatMessage {
  role: "system" | "user" | "assistant";
  content: string;
  name?: string;
}

/** Fields both endpoints share. Defaults in brackets. */
export interface GenerationFields {
  model?: string | null;
  /** Sampling temperature, 0 = greedy. [the model's generation_config, else 1] */
  temperature?: number | null;
  /** Nucleus mass in (0, 1]. [the model's generation_config, else 1] */
  top_p?: number | null;
  /** Keep the k most likely tokens; 0 or -1 = all. [the model's generation_config, else 0] */
  top_k?: number | null;
  /** Number of answers. [1] */
  n?: number | null;
  /** Integer; the same seed gives the same text whatever the neighbours do. [random] */
  seed?: number | null;
  /** Up to 16 strings; the text ends before the first one found. [none] */
  stop?: string | string[] | null;
  stop_token_ids?: number[] | null;
  include_stop_str_in_output?: boolean | null;
  ignore_eos?: boolean | null;
  stream?: boolean | null;
  stream_options?: { include_usage?: boolean } | null;
  return_token_ids?: boolean | null;
  /** With schedulingPolicy "priority": an integer, lower is served earlier. [0] */
  priority?: number | null;
  /** Requests share cached prefixes only with those of the same salt. [none] */
  cache_salt?: string | null;
  /** Ends the answer where it is (finish_reason "abort", stop_reason "deadline") this long after arrival. [never] */
  deadline_ms?: number | null;
  user?: string | null;
}

export interface ChatCompletionRequest extends GenerationFields {
  messages: ChatMessage[];
  /** Most tokens to generate. [what is left of the context] */
  max_tokens?: number | null;
  max_completion_tokens?: number | null;
  /** true: each choice has `logprobs.content` with the sampled token's log-probability. */
  logprobs?: boolean | null;
}

export interface CompletionRequest extends GenerationFields {
  /** Text, texts, token ids, or several arrays of ids. */
  prompt: string | string[] | number[] | number[][];
  /** [16] */
  /** Part of the answer's id and of the reports about it; no other open request may have it. [random] */
  request_id?: string | null;
  max_tokens?: number | null;
  /** 0: each choice has `logprobs` with the sampled tokens' log-probabilities; more is not supported yet. */
  logprobs?: number | null;
}

/** Why a sequence ended. "stop": end-of-text, a stop id or a stop string. */
export type FinishReason = "stop" | "length" | "abort";

export interface Usage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  /** true: the last message, an assistant's, is left open, and the answer is how it goes on. [false] */
  continue_final_message?: boolean | null;
}

export interface TokenLogprob {
  token: string;
  logprob: number;
  bytes: number[];
  top_logprobs: [];
}

interface TokenIds {
  token_ids?: number[];
  prompt_token_ids?: number[];
  /** What ended the answer: the stop string, the stop id or "deadline"; null for end-of-text and length. */
  stop_reason?: string | number | null;
}

export interface ChatCompletionChoice extends TokenIds {
  index: number;
  message: { role: "assistant"; content: string };
  logprobs: { content: TokenLogprob[] } | null;
  finish_reason: FinishReason;
}

export interface ChatCompletion {
  id: string;
  object: "chat.completion";
  /** Unix seconds. */
  created: number;
  model: string;
  choices: ChatCompletionChoice[];
  usage: Usage;
}

export interface ChatCompletionChunkChoice extends TokenIds {
  index: number;
  delta: { role?: "assistant"; content?: string };
  logprobs: { content: TokenLogprob[] } | null;
  finish_reason: FinishReason | null;
}

export interface ChatCompletionChunk {
  id: string;
  object: "chat.completion.chunk";
  created: number;
  model: string;
  /** Empty in the usage chunk that `stream_options.include_usage` adds at the end. */
  choices: ChatCompletionChunkChoice[];
  usage?: Usage;
}

export interface CompletionLogprobs {
  tokens: string[];
  token_logprobs: number[];
  top_logprobs: null;
  text_offset: number[];
}

export interface CompletionChoice extends TokenIds {
  index: number;
  text: string;
  logprobs: CompletionLogprobs | null;
  finish_reason: FinishReason | null;
}

/** A completion, and each chunk of a streamed one. */
export interface Completion {
  id: string;
  object: "text_completion";
  created: number;
  model: string;
  choices: CompletionChoice[];
  usage?: Usage;
}

export interface CreateOptions {
  signal?: AbortSignal;
}
