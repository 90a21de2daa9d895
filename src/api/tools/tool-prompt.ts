// Functions, calls and results as a model's template wants them. Nothing in them is a control token: what they say is masked, but
// for the markers of a format.

import { jsonText } from "../../grammar/json-text.ts";
import type { TemplateCall, TemplateMessage } from "../template-message.ts";
import type { CallFormat } from "./call-format.ts";
import { spelledText } from "./spelled-arguments.ts";
import type { TemplateTools } from "./template-tools.ts";
import type { ToolRequest } from "./tool-fields.ts";

type Messages = readonly TemplateMessage[];

/** The functions that a model may call, as OpenAI's list has them. */
interface Functions extends Pick<ToolRequest, "choice"> {
  readonly definitions: readonly unknown[];
}

/** Returns messages and variables for a template. @param request null: nothing may be called */
export function toolPrompt(
  { format: { plain: format }, functions, calls }: TemplateTools,
  messages: Messages,
  request: Functions | null,
  readsSystemPrompt: boolean,
): { readonly messages: Messages; readonly variables: Readonly<Record<string, unknown>> } {
  const named = withNames(messages);
  if (format.name === "general") {
    const written = withoutRoles(format, named);
    const all = request ? withText(written, generalText(request), readsSystemPrompt) : written;
    return { messages: all, variables: {} };
  }
  const idOf = idsOfLength(format.idLength, named);
  const written = named.map((message) =>
    calls === "text" ? asContent(format, message) : asTemplateTakes(message, calls, idOf),
  );
  if (request === null) return { messages: written, variables: {} };
  if (functions !== "system") return { messages: written, variables: { [functions]: request.definitions } };
  const tools = jsonText(request.definitions.map(bare));
  return { messages: changed(written, "system", (message) => ({ ...message, tools })), variables: {} };
}

const bare = (definition: unknown) => (definition as { function: unknown }).function;

function asTemplateTakes(
  { tool_calls, tool_call_id, ...message }: TemplateMessage,
  as: "objects" | "JSON",
  idOf: (id: string) => string,
): TemplateMessage {
  const written = ({ id, type, function: { name, arguments: given } }: TemplateCall) => ({
    id: idOf(id),
    type,
    function: { name, arguments: as === "JSON" ? JSON.stringify(given) : given },
  });
  return {
    ...message,
    ...(tool_calls && { tool_calls: tool_calls.map(written) }),
    ...(tool_call_id !== undefined && { tool_call_id: idOf(tool_call_id) }),
  };
}

/** Returns a message whose content has its calls, or what it returned, in the model's words. */
function asContent(format: CallFormat, message: TemplateMessage): TemplateMessage {
  const { tool_calls: calls, tool_call_id: _, ...own } = message;
  const { role, before, after } = format.result ?? { role: "tool", before: "", after: "" };
  if (own.role === "tool") return { ...own, role, content: before + own.content + after };
  if (calls === undefined) return own;
  return { ...own, content: (own.content && `${own.content}\n`) + callsText(format, calls) };
}

function callsText({ open, head, mid, tail, between, close, spelling }: CallFormat, calls: readonly TemplateCall[]) {
  const texts = calls.map(({ function: { name, arguments: given } }) => {
    const json = spelling ? spelledText(given as object, spelling) : jsonText(given);
    // Templates look for these tags in an answer's text.
    return head + name + mid + json.replace(/<(?=\/?think>)/g, "\\u003c") + tail;
  });
  return open + texts.join(between) + close;
}

/** Names each result after the function that returned it: some templates want that, and clients leave it out. */
function withNames(messages: Messages): Messages {
  let names = new Map<string, string>();
  return messages.map((message) => {
    if (message.tool_calls) names = new Map(message.tool_calls.map((call) => [call.id, call.function.name]));
    const name = message.role === "tool" ? names.get(message.tool_call_id ?? "") : undefined;
    return name === undefined ? message : { ...message, name };
  });
}

/** Returns what gives each id one of the length that a template takes: all are numbered where one has another length. */
function idsOfLength(length: number | undefined, messages: Messages): (id: string) => string {
  const ids = messages.flatMap(({ tool_calls: calls = [] }) => calls.map(({ id }) => id));
  const fits = (id: string) => id.length === length && /^[a-zA-Z0-9]*$/.test(id);
  if (length === undefined || ids.every(fits)) return (id) => id;
  return (id) => String(ids.indexOf(id) + 1).padStart(length, "0");
}

/** Results, and the question behind them, as one message of the user: a template that knows no tools wants the roles by turns. */
function withoutRoles(format: CallFormat, messages: Messages): Messages {
  const written: TemplateMessage[] = [];
  /** What the calls of the newest answer returned. */
  let results: string[] = [];
  for (const message of messages) {
    const isResult = message.role === "tool";
    if (!isResult && (message.role !== "user" || results.length === 0)) {
      results = [];
      written.push(asContent(format, message));
      continue;
    }
    if (results.length > 0) written.pop();
    results.push(isResult ? `Result of ${message.name}: ${JSON.stringify(message.content)}` : message.content);
    written.push({ role: "user", content: results.join("\n") });
    if (!isResult) results = [];
  }
  return written;
}

/** What a model is told that was not trained for tools. */
function generalText({ definitions, choice }: Functions): string {
  const list = definitions.map((definition) => JSON.stringify(bare(definition))).join("\n");
  const call = '{"tool_calls": [{"name": the function\'s name, "arguments": an object}]}';
  const answer = choice === "auto" ? ` To answer yourself, write {"response": your answer}.` : "";
  return `You can call these functions:\n${list}\nWrite one JSON object. To call functions, write ${call}.${answer}`;
}

/** Adds a text to the system's message, or to the first question where the model knows no such message. */
function withText(messages: Messages, text: string, readsSystemPrompt: boolean): Messages {
  return changed(messages, readsSystemPrompt ? "system" : "user", ({ content, ...message }) => {
    const parts = readsSystemPrompt ? [content, text] : [text, content];
    return { ...message, content: parts.filter((part) => part !== "").join("\n\n") };
  });
}

/** Changes the first message of a role, which comes first if there is none. */
function changed(
  messages: Messages,
  role: "system" | "user",
  change: (message: TemplateMessage) => TemplateMessage,
): Messages {
  const at = messages.findIndex((message) => message.role === role);
  if (at < 0) return [change({ role, content: "" }), ...messages];
  return messages.map((message, i) => (i === at ? change(message) : message));
}
