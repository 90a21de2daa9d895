// OpenAI's shapes for the two endpoints, with vLLM's extra fields. snake_case, as on the wire.

export interface ChatMessage {
  role: "system" | "user" | "assistant";
  content: string;
  name?: string;
}

/** A JSON schema; "true" is one for anything. */
export type JsonSchema = boolean | { readonly [keyword: string]: unknown };

export type ResponseFormat =
  | { type: "text" }
  | { type: "json_object" }
  | {
      type: "json_schema";
      /** `name`, `description` and `strict` (it always is) are OpenAI's and change nothing. */
      json_schema: { schema: JsonSchema; name?: string | null; description?: string | null; strict?: boolean | null };
    };

export interface StructuredOutputs {
  /** A JSON schema, or the text of one. */
  json?: JsonSchema | string | null;
  /** true: any JSON object. */
  json_object?: boolean | null;
  /** A regular expression for the whole answer. */
  regex?: string | null;
  /** The answer is one of these. */
  choice?: string[] | null;
  /** A grammar in EBNF (GBNF, as of llama.cpp), whose first rule is "root". */
  grammar?: string | null;
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
  /** Keep what is at least this times as likely as the likeliest token. [the model's, else 0] */
  min_p?: number | null;
  /** Keep the mass nearest to the typical surprise, in (0, 1]. [the model's, else 1] */
  typical_p?: number | null;
  /** Above 1: makes tokens of prompt and output less likely. [the model's, else 1] */
  repetition_penalty?: number | null;
  /** -2 to 2, off the logits of tokens of the output. [0] */
  presence_penalty?: number | null;
  /** -2 to 2, off the logits of tokens of the output, once for each time they occur. [0] */
  frequency_penalty?: number | null;
  /** No so many tokens in a row come twice; 0 = they may. [the model's, else 0] */
  no_repeat_ngram_size?: number | null;
  /** Token ids and what is added to their logits, -100 to 100. */
  logit_bias?: Record<string, number> | null;
  /** Words that never come. */
  bad_words?: string[] | null;
  /** Before so many tokens the answer doesn't end by itself. [0] */
  min_tokens?: number | null;
  /** The only tokens that are drawn. [all] */
  allowed_token_ids?: number[] | null;
  /** What the answer must be: text, any JSON object, or JSON that a schema describes. [text] */
  response_format?: ResponseFormat | null;
  /** vLLM's: what the answer must be, by exactly one of its fields. Not together with response_format. [anything] */
  structured_outputs?: StructuredOutputs | null;
  /** Number of answers. [1] */
  n?: number | null;
  /** Hugging Face's beam search: the n best answers, no drawing; a stream brings them at the end. [false] */
  use_beam_search?: boolean | null;
  /** Number of beams, at most 20. [n] */
  best_of?: number | null;
  /** Scores are the sum of log-probabilities over length to this power: above 0 favours long answers. [1] */
  length_penalty?: number | null;
  /**
   * When there are as many finished answers as beams: true ends the search, false when the best open beam is no better as
   * it is, "never" when it can't become better. [false]
   */
  early_stopping?: boolean | "never" | null;
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
  /**
   * The log-probability and rank of each token of the prompt, and so many of the most likely in its place, up to 20: in
   * the answer's `prompt_logprobs` (chat) or each choice's (completions). Not with `stream`. Of the model's own logits,
   * whatever the engine's logprobsMode. [none]
   */
  prompt_logprobs?: number | null;
  /** With schedulingPolicy "priority": an integer, lower is served earlier. [0] */
  priority?: number | null;
  /** Part of the answer's id and of the reports about it; no other open request may have it. [random] */
  request_id?: string | null;
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
  /** true: the last message, an assistant's, is left open, and the answer is how it goes on. [false] */
  continue_final_message?: boolean | null;
  /** true: each choice has `logprobs.content` with the sampled token's log-probability. */
  logprobs?: boolean | null;
  /** With logprobs: how many of the most likely tokens are told with each, up to 20. [0] */
  top_logprobs?: number | null;
}

export interface CompletionRequest extends GenerationFields {
  /** Text, texts, token ids, or several arrays of ids. */
  prompt: string | string[] | number[] | number[][];
  /** [16] */
  max_tokens?: number | null;
  /** Each choice has `logprobs` with the sampled tokens' log-probabilities and so many of the most likely, up to 20. */
  logprobs?: number | null;
  /** true: each choice's text begins with the prompt's, and so do its logprobs. [false] */
  echo?: boolean | null;
}

/** Why a sequence ended. "stop": end-of-text, a stop id or a stop string. */
export type FinishReason = "stop" | "length" | "abort";

export interface Usage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  /** Prompt tokens that the prefix cache had, so that they were not computed. */
  prompt_tokens_details: { cached_tokens: number };
}

export interface TopLogprob {
  token: string;
  /** Natural, of what the engine's logprobsMode says; at least -9999. */
  logprob: number;
  bytes: number[];
}

export interface TokenLogprob extends TopLogprob {
  /** In order of likelihood; fewer than were asked for where fewer can come (logprobsMode "processed_logprobs"). */
  top_logprobs: TopLogprob[];
}

interface TokenIds {
  token_ids?: number[];
  prompt_token_ids?: number[];
  /** What ended the answer: the stop string, the stop id or "deadline"; null for end-of-text and length. */
  stop_reason?: string | number | null;
  /** Of an answer of beam search. */
  beam_score?: number | null;
}

export interface ChatCompletionChoice extends TokenIds {
  index: number;
  message: { role: "assistant"; content: string };
  logprobs: { content: TokenLogprob[] } | null;
  finish_reason: FinishReason;
}

/** Of each token of the prompt, by token id: itself and the most likely ones in its place. Null: the first one. */
export type PromptLogprobs = (Record<string, { logprob: number; rank: number; decoded_token: string }> | null)[];

export interface ChatCompletion {
  id: string;
  object: "chat.completion";
  /** Unix seconds. */
  created: number;
  model: string;
  choices: ChatCompletionChoice[];
  usage: Usage;
  /** Where they were asked for. */
  prompt_logprobs?: PromptLogprobs;
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
  /** null: of the first token of a prompt that is echoed. */
  token_logprobs: (number | null)[];
  /** Of each token, where more than 0 were asked for: the most likely ones in its place, and itself. */
  top_logprobs: (Record<string, number> | null)[] | null;
  text_offset: number[];
}

export interface CompletionChoice extends TokenIds {
  index: number;
  text: string;
  logprobs: CompletionLogprobs | null;
  finish_reason: FinishReason | null;
  /** Where they were asked for. */
  prompt_logprobs?: PromptLogprobs;
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
