import { MAX_TOP_LOGPROBS } from "../engine/sampling/sampling-params.ts";
import { isInThought, NO_REASONING } from "../engine/text/reasoning-splitter.ts";
import type { ChatCompletionRequest, GenerationFields } from "../protocol/openai.ts";
import type { RenderedChat } from "../protocol/rendered-chat.ts";
import { jsonCopy } from "./json-copy.ts";
import type { TemplateMessage } from "./template-message.ts";
import type { ChatFormat, OpenedChat, TemplateVariables } from "./chat-format.ts";
import { openRequest, parseGenerationFields, parseMaxTokens } from "./generation-fields.ts";
import { preparePrompts, type ParsedRequest, type RequestContext } from "./parsed-request.ts";
import { parseSomeTokenIds } from "./shared-fields.ts";
import { parseJsonOptions } from "./structured-fields.ts";
import { textOf, type TokenNames } from "./token-names.ts";
import { Fields, invalidType, missing, refused, unsupported } from "./validate.ts";
import { OBJECT } from "../protocol/json-object.ts";
import type { CallFormat } from "./tools/call-format.ts";
import { callGrammar } from "./tools/call-grammar.ts";
import { parseTools, TOOL_FIELDS, type ToolRequest } from "./tools/tool-fields.ts";
import { checkResults, parseCalls } from "./tools/tool-messages.ts";

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

/** @throws ChorusError naming the field */
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
    ? continued(chatFormat.open(chat.messages.slice(0, -1), { ...chat, isContinued: false }), started, context)
    : chatFormat.open(chat.messages, chat);
  const thought = reasoning.state === "closed" || (holdsInReasoning && tools) ? "none" : reasoning.state;
  if (tools) refuseBeside(fields, shared, tools, chatFormat.tools().format);
  const response = shared.structure?.kind === "schema" ? shared.structure : null;
  const calls = tools && { ...tools, format: chatFormat.tools().format, hasSchema: shared.structure !== null };
  const structure = calls
    ? callGrammar(calls.format, calls, response, thought, parseJsonOptions(fields))
    : shared.structure;
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
    calls,
  };
}

/** @throws ChorusError for fields that can't stand beside tools */
function refuseBeside(
  fields: Fields,
  { structure, beamSearch }: Pick<ParsedRequest, "structure" | "beamSearch">,
  { choice }: ToolRequest,
  { content, name }: CallFormat,
): void {
  if (beamSearch !== null) throw refused("use_beam_search", "Beam search can't call tools; leave out one of the two.");
  const { kind = "schema", param = "" } = structure ?? {};
  if (kind !== "schema") throw refused(param, `${param} can't stand beside tools; a JSON schema can.`);
  if (structure !== null && content === "instead" && choice === "auto") {
    const why = `this model's calls (${name}) can't be told from other JSON`;
    throw refused(param, `${param} can't stand beside tools here: ${why}. Set tool_choice.`);
  }
  if (typeof content !== "string" && fields.says("stop"))
    throw refused("stop", "This model's answers under tools are JSON, in which no stop string is found: leave it out.");
}

export const CHAT_PROMPT_FIELDS: readonly string[] = [
  "messages",
  ...TOOL_FIELDS,
  "continue_final_message",
  "chat_template_kwargs",
];

/** Returns only the token ids of the prompt. @throws ChorusError naming the field. */
export function parseChatPrompt(fields: Fields, chatFormat: ChatFormat): number[] {
  const chat = parseChat(fields);
  return chatFormat.open(chat.messages, chat).tokenIds;
}

/** @throws ChorusError as chat.completions.create does for messages */
export function renderChat(body: unknown, chatFormat: ChatFormat, tokenizer: TokenNames): RenderedChat {
  const fields = new Fields(body);
  fields.refuseOthers(CHAT_PROMPT_FIELDS);
  const tokenIds = parseChatPrompt(fields, chatFormat);
  return { text: textOf(tokenIds, tokenizer), tokenIds };
}

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
  if (isContinued && tools)
    throw refused("continue_final_message", "An answer can't be continued under tools; leave out one of the two.");
  return { messages, tools, isContinued, variables: parseTemplateVariables(fields) };
}

function parseTopLogprobs(fields: Fields, wantLogprobs: boolean): number {
  const topLogprobs = fields.integer("top_logprobs", { min: 0, max: MAX_TOP_LOGPROBS }) ?? 0;
  if (topLogprobs > 0 && !wantLogprobs) throw refused("top_logprobs", "top_logprobs needs logprobs: true.");
  return topLogprobs;
}

/** max_completion_tokens is OpenAI's new name of max_tokens. */
function parseChatMaxTokens(fields: Fields): number | undefined {
  const maxTokens = parseMaxTokens(fields, "max_tokens");
  const maxCompletionTokens = parseMaxTokens(fields, "max_completion_tokens");
  if (maxTokens !== undefined && maxCompletionTokens !== undefined && maxTokens !== maxCompletionTokens) {
    const both = `max_tokens (${maxTokens}) and max_completion_tokens (${maxCompletionTokens})`;
    throw refused("max_completion_tokens", `${both} mean the same; give one of them.`);
  }
  return maxTokens ?? maxCompletionTokens;
}

function parseContinue(fields: Fields, messages: readonly TemplateMessage[]): boolean {
  const isContinued = fields.boolean("continue_final_message") ?? false;
  const last = messages.at(-1);
  const started = last?.role === "assistant" ? `${last.content}${last.reasoning_content ?? ""}` : "";
  if (!isContinued || started !== "") return isContinued;
  const name = "continue_final_message";
  throw refused(name, `${name} needs a last message from the assistant that is not empty.`);
}

/** Undefined: the last message is to be encoded. */
function parseFinalTokens(fields: Fields, isContinued: boolean, { vocabSize }: RequestContext): number[] | undefined {
  const name = "final_message_token_ids";
  const ids = parseSomeTokenIds(fields, name, vocabSize);
  if (ids && !isContinued) throw refused(name, `${name} needs continue_final_message: true.`);
  return ids;
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
  const value = fields.read(name, OBJECT) ?? {};
  const own = OWN_VARIABLES.find((variable) => Object.hasOwn(value, variable));
  if (own === undefined) return jsonCopy(value, name);
  throw refused(`${name}.${own}`, `${name} can't set ${own}; the request's other fields or the model do.`);
}

function parseMessages(fields: Fields): TemplateMessage[] {
  const given = fields.list("messages", (value, path) => parseMessage(new Fields(value, path)));
  const messages = fields.needed("messages", given);
  if (messages.length === 0) throw refused("messages", "messages is empty; give at least one.");
  checkResults(messages);
  return messages;
}

function parseMessage(message: Fields): TemplateMessage {
  const said = message.oneOf("role", ROLES);
  const own = ["role", "content", "name", "reasoning_content"];
  message.refuseOthers([...own, "tool_calls", "tool_call_id", "function_call"], EMPTY_IN_ANSWERS);
  for (const name of EMPTY_IN_ANSWERS) {
    const path = message.path(name);
    if (message.says(name)) throw unsupported(path, `${path} is not supported. Leave it out.`);
  }
  const role = message.needed("role", said);
  const name = message.string("name");
  const reasoning = message.string("reasoning_content");
  const calls = role === "assistant" ? parseCalls(message) : undefined;
  const isResult = role === "tool" || role === "function";
  const id = role === "function" ? "" : message.string("tool_call_id");
  const misplaced = [
    ...(role === "assistant" ? [] : ["tool_calls", "function_call"]),
    ...(role === "tool" ? [] : ["tool_call_id"]),
  ].find((field) => message.says(field));
  if (misplaced !== undefined) throw refused(message.path(misplaced), `A message of ${role} has no ${misplaced}.`);
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

/** Reads a string, or parts of type "text", which become lines. */
function parseContent(message: Fields): string {
  const content = message.needed("content", message.get("content"));
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) throw invalidType(message.path("content"), "a string or a list of text parts", content);
  const lines = message.list("content", (value, path) => parseTextPart(new Fields(value, path))) ?? [];
  return lines.join("\n");
}

function parseTextPart(part: Fields): string {
  const type = part.needed("type", part.string("type"));
  const path = part.path("type");
  if (type !== "text") throw unsupported(path, `${path} is "${type}"; this model reads text only.`);
  part.refuseOthers(["type", "text"]);
  return part.needed("text", part.string("text"));
}
