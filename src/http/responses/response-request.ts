// Translates requests to OpenAI's /v1/responses, texts and functions, into chat requests. Fields with the same meaning in both
// (temperature, top_p, model, vLLM's extras...) are passed on unchanged, and are checked there.

import { Fields, invalidType, invalidValue } from "../../api/validate.ts";
import { ChorusError } from "../../protocol/errors.ts";
import { isObject } from "../../protocol/json-object.ts";
import type { JsonSchema } from "../../protocol/json-schema.ts";
import type { AnswerWarning, ChatCompletionRequest, ChatMessageParam, ResponseFormat } from "../../protocol/openai.ts";
import type { ChatTool, ToolChoice } from "../../protocol/openai-tools.ts";

/** Fields that only /v1/responses has, or that mean something else in a chat request. */
const OWN_FIELDS = [
  "input",
  "instructions",
  "max_output_tokens",
  "text",
  "metadata",
  "stream_options",
  "tools",
  "tool_choice",
] as const;

/** Values, besides null and empty lists, of unsupported fields that request nothing. */
const NEUTRAL_VALUES: Readonly<Record<string, readonly unknown[]>> = {
  background: [false],
  conversation: [],
  include: [],
  max_tool_calls: [],
  previous_response_id: [],
  prompt: [],
  reasoning: [],
  store: [false, true],
  truncation: ["disabled"],
};

/** Fields of a chat request whose answers don't fit the shape of a response. */
const CHAT_ONLY = [
  "messages",
  "n",
  "max_tokens",
  "max_completion_tokens",
  "logprobs",
  "top_logprobs",
  "prompt_logprobs",
  "response_format",
  "continue_final_message",
  "return_token_ids",
  "use_beam_search",
  "functions",
  "function_call",
] as const;

/** The parts of a request that its response repeats. */
export interface ResponseRequest {
  readonly chat: ChatCompletionRequest;
  readonly instructions: string | null;
  readonly maxOutputTokens: number | null;
  /** The format as given. */
  readonly format: unknown;
  readonly metadata: unknown;
  readonly tools: unknown;
  readonly toolChoice: unknown;
  /** Of the chat's messages. */
  readonly places: readonly Place[];
}

/** Names in the chat request of fields with other names here; the longest first. */
const NAMES: readonly (readonly [RegExp, string])[] = [
  [/\bresponse_format(\.json_schema)?/g, "text.format"],
  [/\btool_choice\.allowed_tools\b/g, "tool_choice"],
  [/\b((tool_choice\.)?tools\[\d+\]|tool_choice)\.function\b/g, "$1"],
  [/\bmessages\b/g, "input"],
];

/** Returns a text about the chat request, or a path in it, as one about the response request. */
const renamedText = (text: string) => NAMES.reduce((all, [chatName, name]) => all.replace(chatName, name), text);

/** The item of the input that a message came from; -1 for the instructions. `calls`: those of its calls. */
interface Place {
  readonly item: number;
  readonly calls: readonly number[];
}

/** Returns an error about the chat request as one about the response request. */
export function renamed(error: ChorusError, { places }: ResponseRequest): ChorusError {
  const inInput = (text: string) =>
    text
      .replace(
        /messages\[(\d+)\]\.tool_calls\[(\d+)\](\.function)?/g,
        (_, message, call) => `input[${places[Number(message)]?.calls[Number(call)]}]`,
      )
      .replace(/messages\[(\d+)\]\.tool_call_id/g, "messages[$1].call_id")
      .replace(/messages\[(\d+)\]/g, (_, message) => `input[${places[Number(message)]?.item}]`);
  const param = error.param === null ? null : renamedText(inInput(error.param));
  if (param === error.param) return error;
  return new ChorusError(error.code, renamedText(inInput(error.message)), param, { cause: error });
}

export function renamedWarnings(warnings: readonly AnswerWarning[] | undefined): AnswerWarning[] | undefined {
  return warnings?.map((warning) => ({
    ...warning,
    param: renamedText(warning.param),
    message: renamedText(warning.message),
  }));
}

/** @throws ChorusError naming the field; the chat request finds other errors */
export function parseResponseRequest(body: unknown): ResponseRequest {
  const fields = new Fields(body);
  for (const name of CHAT_ONLY) {
    if (fields.get(name) === undefined) continue;
    throw new ChorusError("unknown_parameter", `/v1/responses has no ${name}; /v1/chat/completions has.`, name);
  }
  for (const [name, neutral] of Object.entries(NEUTRAL_VALUES)) {
    const value = fields.get(name);
    if (value === undefined || isEmpty(value) || neutral.includes(value)) continue;
    throw new ChorusError("unsupported_parameter", `${name} is not supported here. Leave it out.`, name);
  }
  const instructions = fields.string("instructions") ?? null;
  const maxOutputTokens = fields.integer("max_output_tokens", { min: 1, max: Infinity }) ?? null;
  const format = parseFormat(fields);
  const handled: readonly string[] = [...OWN_FIELDS, ...Object.keys(NEUTRAL_VALUES)];
  const shared = Object.fromEntries(
    fields.names().flatMap((name) => (handled.includes(name) ? [] : [[name, fields.get(name)]])),
  );
  const { messages, places } = inputMessages(fields);
  const system: ChatMessageParam[] = instructions === null ? [] : [{ role: "system", content: instructions }];
  return {
    chat: {
      ...shared,
      messages: [...system, ...messages],
      ...chatTools(fields),
      ...(maxOutputTokens !== null && { max_completion_tokens: maxOutputTokens }),
      ...(format && { response_format: format }),
    },
    instructions,
    maxOutputTokens,
    format: format === null ? { type: "text" } : (fields.get("text") as { format: unknown }).format,
    metadata: fields.get("metadata") ?? {},
    tools: fields.get("tools"),
    toolChoice: fields.get("tool_choice"),
    places: [...system.map(() => ({ item: -1, calls: [] })), ...places],
  };
}

/** Returns tools and choice in a chat's shape. What this does not know is refused there. */
function chatTools(fields: Fields): Partial<Pick<ChatCompletionRequest, "tools" | "tool_choice">> {
  const tools = fields.list("tools", (value, path) => {
    const { type, ...given } = flat(new Fields(value, path));
    return type === "function" ? { type, function: given } : { type };
  });
  const choice = fields.get("tool_choice");
  const named = (value: unknown, path: string) => {
    const { type, name } = flat(new Fields(value, path));
    return { type, function: { name } };
  };
  const chosen = isObject(choice) ? new Fields(choice, "tool_choice") : null;
  const allowed =
    chosen?.get("type") === "allowed_tools" ? { mode: chosen.get("mode"), tools: chosen.list("tools", named) } : null;
  const written = allowed
    ? { type: "allowed_tools", allowed_tools: allowed }
    : chosen
      ? named(choice, "tool_choice")
      : choice;
  return {
    ...(tools && { tools: tools as ChatTool[] }),
    ...(written !== undefined && { tool_choice: written as ToolChoice }),
  };
}

function flat(fields: Fields): Record<string, unknown> {
  return Object.fromEntries(fields.names().map((name) => [name, fields.get(name)]));
}

function isEmpty(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

function inputMessages(fields: Fields): { messages: ChatMessageParam[]; places: Place[] } {
  const input = fields.needed("input", fields.get("input"));
  if (typeof input === "string")
    return { messages: [{ role: "user", content: input }], places: [{ item: 0, calls: [] }] };
  if (!Array.isArray(input)) throw invalidType("input", "a string or a list of messages", input);
  const messages: ChatMessageParam[] = [];
  const places: Place[] = [];
  let reasoning = "";
  fields.list("input", (value, path) => {
    const given = new Fields(value, path);
    if (given.get("type") === "reasoning") return void (reasoning += parseReasoning(given));
    const message = parseItem(given);
    const item = Number(/\d+(?=\]$)/.exec(path)?.[0]);
    const [before, place] = [messages.at(-1), places.at(-1)];
    const isMore = message.tool_calls && before?.role === "assistant";
    // The calls of one answer are one message, with its text.
    const whole = isMore
      ? { ...before, tool_calls: [...(before.tool_calls ?? []), ...(message.tool_calls ?? [])] }
      : message;
    if (isMore) {
      messages.pop();
      places.pop();
    }
    const thought = `${isMore ? (before.reasoning_content ?? "") : ""}${message.role === "assistant" ? reasoning : ""}`;
    messages.push(thought === "" ? whole : { ...whole, reasoning_content: thought });
    places.push(isMore && place ? { ...place, calls: [...place.calls, item] } : { item, calls: [item] });
    reasoning = "";
  });
  return { messages, places };
}

/** Returns the thought of the next message. An encrypted one can't be read, and a summary is not the thought. */
function parseReasoning(item: Fields): string {
  item.refuseOthers(["type", "content"], ["id", "status", "summary", "encrypted_content"]);
  const parts = item.list("content", (value, path) => new Fields(value, path).string("text") ?? "");
  return (parts ?? []).join("\n");
}

function parseItem(item: Fields): ChatMessageParam {
  const type = item.string("type") ?? "message";
  if (type === "function_call") {
    item.refuseOthers(["type", "call_id", "name", "arguments"], ["id", "status"]);
    const text = (field: string) => item.needed(field, item.string(field));
    const id = text("call_id");
    const called = { name: text("name"), arguments: text("arguments") };
    return { role: "assistant", content: null, tool_calls: [{ id, type: "function", function: called }] };
  }
  if (type === "function_call_output") {
    item.refuseOthers(["type", "call_id", "output"], ["id", "status"]);
    return {
      role: "tool",
      tool_call_id: item.needed("call_id", item.string("call_id")),
      content: parseContent(item, "output"),
    };
  }
  if (type !== "message") {
    const message = `${item.path("type")} is "${type}"; this model reads messages, reasoning and function calls only.`;
    throw new ChorusError("unsupported_parameter", message, item.path("type"));
  }
  item.refuseOthers(["type", "role", "content"], ["id", "status", "phase"]);
  const given = item.oneOf("role", ["system", "developer", "user", "assistant"]);
  const role = item.needed("role", given);
  return { role: role === "developer" ? "system" : role, content: parseContent(item) };
}

function parseContent(item: Fields, field = "content"): string {
  const content = item.needed(field, item.get(field));
  if (typeof content === "string") return content;
  const parts = item.list(field, (value, path) => {
    const part = new Fields(value, path);
    const type = part.string("type");
    if (type !== "input_text" && type !== "output_text") {
      throw invalidValue(part.path("type"), '"input_text" or "output_text"', type);
    }
    return part.needed("text", part.string("text"));
  });
  return (parts ?? []).join("\n");
}

/** Returns `text.format` as a chat's response_format; null if it is left out. */
function parseFormat(fields: Fields): ResponseFormat | null {
  if (fields.get("text") === undefined) return null;
  const text = new Fields(fields.get("text"), "text");
  text.refuseOthers(["format"], ["verbosity"]);
  if (text.get("format") === undefined) return null;
  const format = new Fields(text.get("format"), "text.format");
  const given = format.oneOf("type", ["text", "json_object", "json_schema"]);
  const type = format.needed("type", given);
  if (type !== "json_schema") {
    format.refuseOthers(["type"]);
    return { type };
  }
  format.refuseOthers(["type", "schema"], ["name", "description", "strict"]);
  return { type, json_schema: { schema: format.needed("schema", format.get("schema")) as JsonSchema } };
}
