import { MAX_TOP_LOGPROBS } from "../engine/sampling/sampling-params.ts";
import { isInThought, NO_REASONING } from "../engine/text/reasoning-splitter.ts";
import { ChorusError } from "../protocol/errors.ts";
import type { ChatCompletionRequest, GenerationFields } from "../protocol/openai.ts";
import { jsonCopy } from "./json-copy.ts";
import type { TemplateMessage } from "./template-message.ts";
import type { ChatFormat, OpenedChat, TemplateVariables } from "./chat-format.ts";
import { openRequest, parseGenerationFields, parseMaxTokens } from "./generation-fields.ts";
import { preparePrompts, type ParsedRequest, type RequestContext } from "./parsed-request.ts";
import { parseTokenId } from "./shared-fields.ts";
import { textOf } from "./text-of-tokens.ts";
import { Fields, invalidType, invalidValue, missing } from "./validate.ts";
import { isObject } from "../protocol/json-object.ts";
import { callGrammar } from "./tools/call-grammar.ts";
import { parseTools, TOOL_FIELDS, type ToolRequest } from "./tools/tool-fields.ts";
import { checkResults, messagesFor, parseCalls } from "./tools/tool-messages.ts";

const CHAT_FIELDS = [
  "messages",
  ...TOOL_FIELDS,
  "max_tokens",
  "max_completion_tokens",
  "continue_final_message",
  "final_message_token_ids",
  "chat_template_kwargs",
  "enable_in_reasoning",
  "logprobs",
  "top_logprobs",
] as const satisfies readonly Exclude<keyof ChatCompletionRequest, keyof GenerationFields>[];

/** "developer" is OpenAI's newer name of "system". */
const ROLES = ["system", "developer", "user", "assistant", "tool", "function"] as const;
/** Fields of OpenAI's answers, which clients send back as they came. Here they have nothing in them. */
const EMPTY_IN_ANSWERS = ["refusal", "audio", "annotations", "parsed"];

/**
 * Parses and checks the body of chat.completions.create, and returns token ids and parameters.
 * @throws ChorusError naming the field.
 */
export function parseChatRequest(body: unknown, context: RequestContext): ParsedRequest {
  const fields = openRequest(body, CHAT_FIELDS, context);
  const { chatFormat } = context;
  const chat = parseChat(fields);
  const { tools, isContinued } = chat;
  const wantLogprobs = fields.boolean("logprobs") ?? false;
  const topLogprobs = parseTopLogprobs(fields, wantLogprobs);
  const { requested, ...shared } = parseGenerationFields(fields, context, chatFormat.stop, topLogprobs);
  const maxTokens = parseChatMaxTokens(fields);
  const started = parseFinalTokens(fields, isContinued, context);
  const holdsInReasoning = fields.boolean("enable_in_reasoning") ?? false;
  const { tokenIds, reasoning } = started
    ? continued(
        openChat({ ...chat, messages: chat.messages.slice(0, -1), isContinued: false }, chatFormat),
        started,
        context,
      )
    : openChat(chat, chatFormat);
  const thought = reasoning.state === "closed" || (holdsInReasoning && tools) ? "none" : reasoning.state;
  if (tools) refuseBeside(fields, shared, tools, chatFormat);
  const response = shared.structure?.kind === "schema" ? shared.structure : null;
  const structure = tools ? callGrammar(chatFormat.callFormat, tools, response, thought) : shared.structure;
  const prompts = [{ tokenIds, param: "messages" }];
  return {
    endpoint: "chat.completions",
    prompts: preparePrompts(prompts, requested, maxTokens, Infinity, context),
    wantLogprobs,
    // A grammar holds from the first token on where no thought is open: then all is content.
    reasoning:
      structure === null || (tools && thought === "may open") || (isInThought(reasoning) && !holdsInReasoning)
        ? reasoning
        : NO_REASONING,
    echo: false,
    isPromptOnly: false,
    ...shared,
    structure,
    calls: tools && { ...tools, format: chatFormat.callFormat, hasSchema: shared.structure !== null },
  };
}

/** @throws ChorusError for fields that can't stand beside tools */
function refuseBeside(
  fields: Fields,
  { structure, beamSearch }: Pick<ParsedRequest, "structure" | "beamSearch">,
  { choice }: ToolRequest,
  { callFormat: { content, name } }: ChatFormat,
): void {
  const refuse = (message: string, param: string) => new ChorusError("invalid_value", message, param);
  if (beamSearch !== null) throw refuse("Beam search can't call tools; leave out one of the two.", "use_beam_search");
  if (structure !== null && structure.kind !== "schema")
    throw refuse(`${structure.param} can't stand beside tools; a JSON schema can.`, structure.param);
  if (structure !== null && content === "instead" && choice === "auto") {
    const why = `this model's calls (${name}) can't be told from other JSON`;
    throw refuse(`${structure.param} can't stand beside tools here: ${why}. Set tool_choice.`, structure.param);
  }
  const stop = fields.get("stop");
  if (typeof content !== "string" && stop !== undefined && !(Array.isArray(stop) && stop.length === 0))
    throw refuse("This model's answers under tools are JSON, in which no stop string is found: leave it out.", "stop");
}

/** Returns only the token ids of the prompt. @throws ChorusError naming the field. */
export function parseChatPrompt(body: unknown, chatFormat: ChatFormat): number[] {
  const fields = new Fields(body);
  fields.refuseOthers(["messages", ...TOOL_FIELDS, "continue_final_message", "chat_template_kwargs"]);
  return openChat(parseChat(fields), chatFormat).tokenIds;
}

/** What a chat's prompt is made of. */
interface Chat {
  readonly messages: readonly TemplateMessage[];
  readonly tools: ToolRequest | null;
  readonly isContinued: boolean;
  readonly variables: TemplateVariables;
}

function parseChat(fields: Fields): Chat {
  const messages = parseMessages(fields);
  const tools = parseTools(fields);
  const isContinued = parseContinue(fields, messages);
  if (isContinued && tools) {
    const message = "An answer can't be continued under tools; leave out one of the two.";
    throw new ChorusError("invalid_value", message, "continue_final_message");
  }
  return { messages, tools, isContinued, variables: parseTemplateVariables(fields) };
}

function openChat({ messages, tools, isContinued, variables }: Chat, chatFormat: ChatFormat): OpenedChat {
  const { callFormat } = chatFormat;
  const written = messagesFor(chatFormat, messages, tools);
  const given =
    tools && callFormat.name !== "general" ? { tools: tools.tools.map(({ definition }) => definition) } : {};
  return chatFormat.open(written, { isContinued, variables: { ...variables, ...given } });
}

function parseTopLogprobs(fields: Fields, wantLogprobs: boolean): number {
  const topLogprobs = fields.integer("top_logprobs", { min: 0, max: MAX_TOP_LOGPROBS }) ?? 0;
  if (topLogprobs > 0 && !wantLogprobs) {
    throw new ChorusError("invalid_value", "top_logprobs needs logprobs: true.", "top_logprobs");
  }
  return topLogprobs;
}

/** max_completion_tokens is OpenAI's new name of max_tokens. */
function parseChatMaxTokens(fields: Fields): number | undefined {
  const maxTokens = parseMaxTokens(fields, "max_tokens");
  const maxCompletionTokens = parseMaxTokens(fields, "max_completion_tokens");
  if (maxTokens !== undefined && maxCompletionTokens !== undefined && maxTokens !== maxCompletionTokens) {
    throw new ChorusError(
      "invalid_value",
      `max_tokens (${maxTokens}) and max_completion_tokens (${maxCompletionTokens}) mean the same; give one of them.`,
      "max_completion_tokens",
    );
  }
  return maxTokens ?? maxCompletionTokens;
}

function parseContinue(fields: Fields, messages: readonly TemplateMessage[]): boolean {
  const isContinued = fields.boolean("continue_final_message") ?? false;
  const last = messages.at(-1);
  const started = last?.role === "assistant" ? `${last.content}${last.reasoning_content ?? ""}` : "";
  if (!isContinued || started !== "") return isContinued;
  const message = "continue_final_message needs a last message from the assistant that is not empty.";
  throw new ChorusError("invalid_value", message, "continue_final_message");
}

/** Undefined: the last message is to be encoded. */
function parseFinalTokens(fields: Fields, isContinued: boolean, { vocabSize }: RequestContext): number[] | undefined {
  const name = "final_message_token_ids";
  const ids = fields.list(name, (value, path) => parseTokenId(path, value, vocabSize));
  if (ids === undefined) return undefined;
  if (ids.length === 0) throw invalidValue(name, "at least one token id", ids);
  if (isContinued) return ids;
  throw new ChorusError("invalid_value", `${name} needs continue_final_message: true.`, name);
}

function continued(
  { tokenIds, reasoning }: OpenedChat,
  started: readonly number[],
  { tokenizer }: RequestContext,
): OpenedChat {
  return { tokenIds: [...tokenIds, ...started], reasoning: { ...reasoning, written: textOf(started, tokenizer) } };
}

/** Variables that only the request's other fields decide, or the model: what a request sets is text, no control token. */
const OWN_VARIABLES = ["messages", "add_generation_prompt", "bos_token", "eos_token", "pad_token", "unk_token"];

/** A copy of chat_template_kwargs, as JSON would have it. */
function parseTemplateVariables(fields: Fields): TemplateVariables {
  const name = "chat_template_kwargs";
  const value = fields.get(name);
  if (value === undefined) return {};
  if (!isObject(value)) throw invalidType(name, "an object", value);
  const own = OWN_VARIABLES.find((variable) => Object.hasOwn(value, variable));
  if (own !== undefined) {
    throw new ChorusError(
      "invalid_value",
      `${name} can't set ${own}; the request's other fields or the model do.`,
      `${name}.${own}`,
    );
  }
  return jsonCopy(value, name);
}

function parseMessages(fields: Fields): TemplateMessage[] {
  const messages = fields.list("messages", (value, path) => parseMessage(new Fields(value, path)));
  if (messages === undefined) throw missing("messages");
  if (messages.length === 0)
    throw new ChorusError("invalid_value", "messages is empty; give at least one.", "messages");
  checkResults(messages);
  return messages;
}

function parseMessage(message: Fields): TemplateMessage {
  const role = message.oneOf("role", ROLES);
  const own = ["role", "content", "name", "reasoning_content"];
  message.refuseOthers([...own, "tool_calls", "tool_call_id", "function_call"], EMPTY_IN_ANSWERS);
  for (const name of EMPTY_IN_ANSWERS) {
    const value = message.get(name);
    if (value === undefined || (Array.isArray(value) && value.length === 0)) continue;
    const path = message.path(name);
    throw new ChorusError("unsupported_parameter", `${path} is not supported. Leave it out.`, path);
  }
  if (role === undefined) throw missing(message.path("role"));
  const name = message.string("name");
  const reasoning = message.string("reasoning_content");
  const calls = role === "assistant" ? parseCalls(message) : undefined;
  const isResult = role === "tool" || role === "function";
  const id = role === "function" ? "" : message.string("tool_call_id");
  const misplaced = misplacedField(message, role);
  if (misplaced !== null)
    throw new ChorusError("invalid_value", `A message of ${role} has no ${misplaced}.`, message.path(misplaced));
  if (isResult && id === undefined) throw missing(message.path("tool_call_id"));
  return {
    role: role === "developer" ? "system" : role === "function" ? "tool" : role,
    content: calls && message.get("content") === undefined ? "" : parseContent(message),
    ...(calls && { tool_calls: calls }),
    ...(isResult && { tool_call_id: id ?? "" }),
    ...(name !== undefined && { name }),
    ...(reasoning !== undefined && { reasoning_content: reasoning }),
  };
}

/** Returns a field about calls that a message of this role can't have. */
function misplacedField(message: Fields, role: string): string | null {
  const isSaid = (name: string) => {
    const value = message.get(name);
    return value !== undefined && !(Array.isArray(value) && value.length === 0);
  };
  if (role !== "assistant" && isSaid("tool_calls")) return "tool_calls";
  if (role !== "assistant" && isSaid("function_call")) return "function_call";
  return role !== "tool" && isSaid("tool_call_id") ? "tool_call_id" : null;
}

/** Reads a string, or parts of type "text", which become lines. */
function parseContent(message: Fields): string {
  const content = message.get("content");
  if (content === undefined) throw missing(message.path("content"));
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) throw invalidType(message.path("content"), "a string or a list of text parts", content);
  const lines = message.list("content", (value, path) => parseTextPart(new Fields(value, path))) ?? [];
  return lines.join("\n");
}

function parseTextPart(part: Fields): string {
  const type = part.string("type");
  if (type === undefined) throw missing(part.path("type"));
  if (type !== "text") {
    const message = `${part.path("type")} is "${type}"; this model reads text only.`;
    throw new ChorusError("unsupported_parameter", message, part.path("type"));
  }
  part.refuseOthers(["type", "text"]);
  const text = part.string("text");
  if (text === undefined) throw missing(part.path("text"));
  return text;
}
