// OpenAI's shapes of /v1/responses: text and thoughts. Nothing is stored, so each request brings the whole conversation.

import type { JsonSchema } from "./json-schema.ts";
import type { AnswerWarning, ChatMessageParam, GenerationFields } from "./openai.ts";
import type { FunctionDefinition } from "./openai-tools.ts";
import type { RequestMetrics } from "./request-metrics.ts";

/** Fields whose answers a response has no place for. */
type ChatOnly = "n" | "prompt_logprobs" | "response_format" | "return_token_ids" | "use_beam_search" | "stream_options";

/** A message, a thought, a call, its output, or an item of an earlier response, as it came. Other types are refused. */
export interface ResponseInputItem {
  type?: string;
  role?: ChatMessageParam["role"];
  content?: string | readonly { type: string; text?: string }[] | null;
  /** Of a "function_call" and of its "function_call_output". */
  call_id?: string;
  name?: string;
  arguments?: string;
  output?: string | readonly { type: string; text?: string }[] | null;
}

/** A function that the model may call. */
export type ResponseTool = { type: "function" } & FunctionDefinition;

interface NamedTool {
  type: "function";
  name: string;
}

export interface ResponseRequest extends Omit<GenerationFields, ChatOnly> {
  /** What is asked: a text, or the conversation, oldest first. */
  input: string | readonly ResponseInputItem[];
  /** A system prompt before it. [none] */
  instructions?: string | null;
  /** Most tokens to generate. [the rest of the context; tokens] */
  max_output_tokens?: number | null;
  /** Functions that the model may call. [none] */
  tools?: readonly (ResponseTool | { type: string })[] | null;
  /** Whether it calls them, as in a chat. ["auto"] */
  tool_choice?:
    | "none"
    | "auto"
    | "required"
    | NamedTool
    | { type: "allowed_tools"; mode: "auto" | "required"; tools: readonly (NamedTool | { [field: string]: unknown })[] }
    | { type: string }
    | null;
  /** false: at most one call an answer. [true] */
  parallel_tool_calls?: boolean | null;
  /** Format of the answer. [text] */
  text?: {
    format?:
      | { type: "text" | "json_object" }
      | { type: "json_schema"; schema: JsonSchema; name?: string; description?: string; strict?: boolean | null };
  } | null;
}

export type ResponseStatus = "in_progress" | "completed" | "incomplete";

export type ResponseItem =
  | {
      id: string;
      type: "message";
      role: "assistant";
      status: ResponseStatus;
      content: { type: "output_text"; text: string; annotations: never[]; logprobs: never[] }[];
    }
  | {
      id: string;
      type: "reasoning";
      status: ResponseStatus;
      summary: never[];
      content: { type: "reasoning_text"; text: string }[];
    }
  | {
      id: string;
      type: "function_call";
      status: ResponseStatus;
      call_id: string;
      name: string;
      /** The text of a JSON object. */
      arguments: string;
    };

/** A response. Its other fields repeat the request. */
export interface ResponseAnswer {
  id: string;
  object: "response";
  /** Unix seconds. */
  created_at: number;
  model: string;
  status: ResponseStatus;
  incomplete_details: { reason: "max_output_tokens" } | null;
  output: ResponseItem[];
  /** The text of the output's message. */
  output_text: string;
  usage: {
    input_tokens: number;
    input_tokens_details: { cached_tokens: number };
    output_tokens: number;
    output_tokens_details: { reasoning_tokens: number };
    total_tokens: number;
  } | null;
  /** If requested. */
  metrics?: RequestMetrics;
  /** What of a tool's schema was left out. */
  warnings?: AnswerWarning[];
  [repeated: string]: unknown;
}

/** An event of a streamed response. What else it has depends on its type. */
export interface ResponseEvent {
  /** "response.created", "response.output_text.delta", "response.completed"... */
  type: string;
  /** Counts from 0. */
  sequence_number: number;
  /** A piece of text, in "response.output_text.delta" and "response.reasoning_text.delta". */
  delta?: string;
  /** In the first events and the last one. */
  response?: ResponseAnswer;
  [more: string]: unknown;
}
