// OpenAI's shapes for the two endpoints, with vLLM's extra fields. snake_case, as on the wire.

import type { JsonSchema } from "./json-schema.ts";
import type { ChatTool, FunctionDefinition, ToolCall, ToolCallDelta, ToolChoice } from "./openai-tools.ts";
import type { RequestMetrics } from "./request-metrics.ts";

export interface ChatMessage {
  /** Who says it. */
  role: "system" | "user" | "assistant";
  /** What is said. Control tokens of the model in it are ordinary text. */
  content: string;
  /** The speaker's name, where the model's template shows it. [none] */
  name?: string;
  /** An assistant's thoughts before its answer. Templates of models that think may show them to the model again. [none] */
  reasoning_content?: string | null;
}

/** A message of a request. OpenAI's own type of messages is one, too; of what it allows, other parts than text are refused. */
export interface ChatMessageParam extends Pick<ChatMessage, "name" | "reasoning_content"> {
  /** Who says it. "developer" is OpenAI's newer name of "system", "function" its older one of "tool". */
  role: ChatMessage["role"] | "developer" | "tool" | "function";
  /** What is said: a text, or parts of type "text", which become lines. */
  content?: string | readonly { type: string; text?: string }[] | null;
  /** The functions that an assistant's answer calls. Each is followed by the tool message with its result. [none] */
  tool_calls?: readonly (ToolCall | { id: string; type: "custom" })[] | null;
  /** OpenAI's older form of one call. [none] */
  function_call?: { name: string; arguments: string } | null;
  /** The call whose result a tool's message is. [none] */
  tool_call_id?: string;
}

export type ResponseFormat =
  | { type: "text" }
  | { type: "json_object" }
  | {
      type: "json_schema";
      /** `name`, `description` and `strict` (it always is) are OpenAI's and change nothing. */
      json_schema: { schema?: JsonSchema; name?: string | null; description?: string | null; strict?: boolean | null };
    };

export interface StructuredOutputs {
  /** A JSON schema, or the text of one. [none] */
  json?: JsonSchema | string | null;
  /** true: any JSON object. [false] */
  json_object?: boolean | null;
  /** A regular expression for the whole answer. [none] */
  regex?: string | null;
  /** The answer is one of these. [none] */
  choice?: string[] | null;
  /** A grammar in GBNF, llama.cpp's form of EBNF. Its first rule is "root"; <[7]> is the token 7. [none] */
  grammar?: string | null;
  /**
   * A regular expression of the white space around JSON's signs, or "any"; for json, json_object, response_format and
   * the arguments of calls that are JSON. [JSON on one line]
   */
  whitespace_pattern?: string | null;
  /**
   * true: keywords of a schema that can't be held exactly are left out, instead of a refusal, and the answer's `warnings` name
   * them; for json, json_object, response_format and strict tools. [false]
   */
  lenient?: boolean | null;
}

/** Fields both endpoints share. In brackets: the default; the unit. */
export interface GenerationFields {
  /** The name of the model that answers. Any other than the engine's is refused. [the engine's] */
  model?: string | null;
  /** Sampling temperature, 0 = greedy. [the model's generation_config, else 1; ratio] */
  temperature?: number | null;
  /**
   * Nucleus sampling: keeps the likeliest tokens up to this mass, in (0, 1]. [the model's generation_config, else 1;
   * probability]
   */
  top_p?: number | null;
  /** Keeps the k most likely tokens; 0 or -1 keeps all. [the model's generation_config, else 0; tokens] */
  top_k?: number | null;
  /** Keeps tokens at least this fraction as likely as the likeliest one. [the model's, else 0; ratio] */
  min_p?: number | null;
  /**
   * Typical sampling: mass to keep of the tokens nearest to the expected surprise, in (0, 1]. [the model's, else 1;
   * probability]
   */
  typical_p?: number | null;
  /** Values above 1 make tokens of the prompt and output less likely. [the model's, else 1; ratio] */
  repetition_penalty?: number | null;
  /** -2 to 2: subtracted from the logit of each token in the output. [0; logits] */
  presence_penalty?: number | null;
  /** -2 to 2: subtracted from the logit of an output token once per occurrence. [0; logits] */
  frequency_penalty?: number | null;
  /** Forbids repeating any n-gram of this size; 0 allows it. [the model's, else 0; tokens] */
  no_repeat_ngram_size?: number | null;
  /** Numbers from -100 to 100 that are added to logits, by token id. [none; logits] */
  logit_bias?: Record<string, number> | null;
  /** Forbidden words. [none] */
  bad_words?: string[] | null;
  /** Number of tokens before which the answer can't end by itself. [0; tokens] */
  min_tokens?: number | null;
  /** The only allowed tokens. [all; token ids] */
  allowed_token_ids?: number[] | null;
  /** Format of the answer: text, any JSON object, or JSON that follows a schema. [text] */
  response_format?: ResponseFormat | null;
  /**
   * vLLM's: constrains the answer by one of its fields. Its options, whitespace_pattern and lenient, may stand alone beside
   * response_format and tools. [no constraint]
   */
  structured_outputs?: StructuredOutputs | null;
  /** Number of answers. [1; answers] */
  n?: number | null;
  /** Hugging Face's beam search: returns the n best answers without sampling. A stream sends them at the end. [false] */
  use_beam_search?: boolean | null;
  /** Number of beams, at most 20. [n; beams] */
  best_of?: number | null;
  /** A score is the sum of log-probabilities over length to this power. Above 0 favours long answers. [1; exponent] */
  length_penalty?: number | null;
  /**
   * When the search ends, once there are as many finished answers as beams. true: at once. false: when the best open beam
   * is no better at its present length. "never": when it can't become better. [false]
   */
  early_stopping?: boolean | "never" | null;
  /**
   * An integer from -(2^53 - 1) to 2^53 - 1. The same seed gives the same text, whatever else runs beside it. Of `n` choices,
   * choice i is what the seed + i gives alone. [random; integer]
   */
  seed?: number | null;
  /** Up to 16 strings; the text ends before the first one found. [none] */
  stop?: string | string[] | null;
  /** Tokens that end the answer, besides the model's own. [none; token ids] */
  stop_token_ids?: number[] | null;
  /** true: the text ends with the stop string that ended it. [false] */
  include_stop_str_in_output?: boolean | null;
  /** true: the model's end tokens do not end the answer; only `max_tokens` and stops do. [false] */
  ignore_eos?: boolean | null;
  /** true: the answer comes in chunks as it grows. [false] */
  stream?: boolean | null;
  /** With stream: `include_usage` adds a last chunk with the counts of tokens. [none] */
  stream_options?: { include_usage?: boolean } | null;
  /** vLLM's: choices have `token_ids`, and the first chunk `prompt_token_ids`. [false] */
  return_token_ids?: boolean | null;
  /**
   * vLLM's: tokens in log-probabilities are named "token_id:7" instead of by their text, which may not be all of it.
   * [false]
   */
  return_tokens_as_token_ids?: boolean | null;
  /**
   * vLLM's: the answer, or the last chunk of a stream, has `metrics`. With several choices each one has its own, too, when it
   * ends. [false]
   */
  include_metrics?: boolean | null;
  /**
   * Number of top log-probabilities to return per prompt token, up to 20, besides the token's own with its rank: in the
   * answer's `prompt_logprobs` (chat) or each choice's (completions). Not with `stream`. They describe the model's own
   * logits, whatever the engine's logprobsMode. [none; tokens]
   */
  prompt_logprobs?: number | null;
  /** An integer. The schedulingPolicy "priority" serves lower numbers earlier. [0; integer] */
  priority?: number | null;
  /** Part of the answer's id and of its reports. Must be unique among open requests. [random] */
  request_id?: string | null;
  /** Requests share cached prefixes only with requests of the same salt. [none] */
  cache_salt?: string | null;
  /**
   * Milliseconds after arrival at which the answer is cut off (finish_reason "abort", stop_reason "deadline"). [never;
   * ms]
   */
  deadline_ms?: number | null;
  /** OpenAI's name for who asks. It changes nothing. [none] */
  user?: string | null;
  /** OpenAI's notes on a request. They change nothing. [none] */
  metadata?: Record<string, string> | null;
  /** OpenAI's: whether the answer may be kept. Nothing ever is. [false] */
  store?: boolean | null;
}

export interface ChatCompletionRequest extends GenerationFields {
  /** The conversation, oldest first. The model's template makes the prompt of it. */
  messages: readonly ChatMessageParam[];
  /** Most tokens to generate. [the rest of the context; tokens] */
  max_tokens?: number | null;
  /** OpenAI's newer name of max_tokens. [max_tokens; tokens] */
  max_completion_tokens?: number | null;
  /**
   * true: the answer continues the last message, which must be an assistant's. A thought of it that isn't closed belongs in
   * its reasoning_content. [false]
   */
  continue_final_message?: boolean | null;
  /**
   * With continue_final_message: the tokens of the last message, after the prompt that asks for an answer. They are taken as
   * they are, so that an answer is continued exactly as it was generated. [its content is encoded; token ids]
   */
  final_message_token_ids?: number[] | null;
  /** Functions that the model may call. [none] */
  tools?: readonly (ChatTool | { type: "custom" })[] | null;
  /** Whether it calls them: "auto" as it likes, "required" at least one, or a named one. ["auto"] */
  tool_choice?: ToolChoice | null;
  /** false: at most one call an answer. [true] */
  parallel_tool_calls?: boolean | null;
  /** OpenAI's older name of tools: one call an answer, as function_call. [none] */
  functions?: readonly FunctionDefinition[] | null;
  /** OpenAI's older name of tool_choice. ["auto"] */
  function_call?: "none" | "auto" | { name: string } | null;
  /** vLLM's: variables of the model's chat template, such as `enable_thinking` and `tools`. [none] */
  chat_template_kwargs?: Record<string, unknown> | null;
  /**
   * vLLM's name: true lets a response_format, or structured_outputs, hold from the first token on, also where the model's
   * template has opened a thought. [false: it holds after the thought]
   */
  enable_in_reasoning?: boolean | null;
  /** true: each choice has `logprobs.content` with the sampled token's log-probability. [false] */
  logprobs?: boolean | null;
  /** With logprobs: number of top log-probabilities to return per token, up to 20. [0; tokens] */
  top_logprobs?: number | null;
}

export interface CompletionRequest extends GenerationFields {
  /** A text, several texts, token ids, or several arrays of ids. [; token ids] */
  prompt: string | string[] | number[] | number[][] | null;
  /** Most tokens to generate. [16; tokens] */
  max_tokens?: number | null;
  /**
   * Returns the sampled tokens' log-probabilities, and this many top ones per token, up to 20, in `logprobs`. [none;
   * tokens]
   */
  logprobs?: number | null;
  /** true: each choice's text and logprobs begin with the prompt's. [false] */
  echo?: boolean | null;
  /** false: a text is encoded as it is, without the tokens that the model's tokenizer puts around it ("<bos>"). [true] */
  add_special_tokens?: boolean | null;
  /** false: control tokens in a text, such as "<|im_end|>", stay text, as in a chat's messages. [true] */
  parse_special_tokens?: boolean | null;
}

/** Why a sequence ended. "stop": end-of-text, a stop id or a stop string. */
export type FinishReason = "stop" | "length" | "abort";

/** "tool_calls", "function_call": the answer's functions are to be called. */
export type ChatFinishReason = FinishReason | "tool_calls" | "function_call";

export interface Usage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  /** Prompt tokens that the prefix cache had, so that they were not computed. */
  prompt_tokens_details: { cached_tokens: number };
  /** With a thought: its tokens. With speculation: how many drafted tokens were accepted and rejected. */
  completion_tokens_details?: {
    reasoning_tokens?: number;
    accepted_prediction_tokens?: number;
    rejected_prediction_tokens?: number;
  };
}

export interface TopLogprob {
  token: string;
  /** Natural log, as the engine's logprobsMode says; at least -9999. */
  logprob: number;
  bytes: number[];
}

export interface TokenLogprob extends TopLogprob {
  /** Most likely first. May be fewer than requested if fewer are possible (logprobsMode "processed_logprobs"). */
  top_logprobs: TopLogprob[];
}

interface TokenIds {
  token_ids?: number[];
  prompt_token_ids?: number[];
  /** What ended the answer: the stop string, the stop token id or "deadline"; null for end-of-text and length. */
  stop_reason?: string | number | null;
  /** Score of an answer of beam search. */
  beam_score?: number | null;
  /** This choice's own figures, if they were requested and there are several choices. */
  metrics?: RequestMetrics;
}

/** Something that the request asked for, and the answer doesn't keep. */
export interface AnswerWarning {
  code: "keyword_left_out";
  /** The keyword's place: "response_format.json_schema.schema.properties.tags.uniqueItems". */
  param: string;
  keyword: string;
  /** Why it can't be held. */
  message: string;
}

interface AnswerOrChunk {
  id: string;
  /** Unix seconds. */
  created: number;
  model: string;
  /** If requested. In the last chunk of a stream. */
  metrics?: RequestMetrics;
  /** Absent where there are none. In the first chunk of a stream. */
  warnings?: AnswerWarning[];
}

export interface ChatCompletionChoice extends TokenIds {
  index: number;
  message: {
    role: "assistant";
    /** null where the answer only calls functions. */
    content: string | null;
    /** vLLM's: what a model that thinks wrote between <think> and </think>, at the beginning. Absent where there is nothing. */
    reasoning_content?: string;
    tool_calls?: ToolCall[];
    function_call?: ToolCall["function"];
  };
  logprobs: { content: TokenLogprob[] } | null;
  finish_reason: ChatFinishReason;
}

/** For each prompt token, by token id: itself and the most likely tokens in its place. Null for the first token. */
export type PromptLogprobs = (Record<string, { logprob: number; rank: number; decoded_token: string }> | null)[];

export interface ChatCompletion extends AnswerOrChunk {
  object: "chat.completion";
  choices: ChatCompletionChoice[];
  usage: Usage;
  /** If requested. */
  prompt_logprobs?: PromptLogprobs;
}

export interface ChatCompletionChunkChoice extends TokenIds {
  index: number;
  delta: {
    role?: "assistant";
    /** null: the answer begins with a call. */
    content?: string | null;
    reasoning_content?: string;
    /** A call's id, type and name come once, its arguments piece by piece. */
    tool_calls?: ToolCallDelta[];
    function_call?: Partial<ToolCall["function"]>;
  };
  logprobs: { content: TokenLogprob[] } | null;
  finish_reason: ChatFinishReason | null;
}

export interface ChatCompletionChunk extends AnswerOrChunk {
  object: "chat.completion.chunk";
  /** Empty in the usage chunk that `stream_options.include_usage` adds at the end. */
  choices: ChatCompletionChunkChoice[];
  usage?: Usage;
}

export interface CompletionLogprobs {
  tokens: string[];
  /** null for the first token of an echoed prompt. */
  token_logprobs: (number | null)[];
  /** For each token, if more than 0 were requested: the most likely tokens in its place, and itself. */
  top_logprobs: (Record<string, number> | null)[] | null;
  text_offset: number[];
}

export interface CompletionChoice extends TokenIds {
  index: number;
  text: string;
  logprobs: CompletionLogprobs | null;
  finish_reason: FinishReason | null;
  /** If requested. */
  prompt_logprobs?: PromptLogprobs;
}

/** A completion, and each chunk of a streamed one. */
export interface Completion extends AnswerOrChunk {
  object: "text_completion";
  choices: CompletionChoice[];
  usage?: Usage;
}

export interface CreateOptions {
  /** Aborts the request: its rows leave the batch after the step in flight. [none] */
  signal?: AbortSignal;
}
