// The history of calls: messages as clients send them, and as a model's template wants them.

import { parseJson } from "../../protocol/bounded-data.ts";
import { isObject } from "../../protocol/json-object.ts";
import type { ChatFormat } from "../chat-format.ts";
import type { TemplateCall, TemplateMessage } from "../template-message.ts";
import { Fields, refused } from "../validate.ts";
import type { CallFormat } from "./call-format.ts";
import type { ToolRequest } from "./tool-fields.ts";

/** Returns an assistant's calls; undefined if there are none. The older function_call is one without an id. */
export function parseCalls(message: Fields): readonly TemplateCall[] | undefined {
  const calls = message.list("tool_calls", (value, path) => {
    const call = new Fields(value, path);
    call.refuseOthers(["id", "type", "function"], ["index"]);
    call.oneOf("type", ["function"]);
    const id = call.needed("id", call.string("id"));
    return parseCall(id, call.needed("function", call.get("function")), call.path("function"));
  });
  const older = message.get("function_call");
  const path = message.path("function_call");
  if (older === undefined) return calls?.length === 0 ? undefined : calls;
  if (calls) throw refused(path, `${path} is the older form of tool_calls; give only one of them.`);
  return [parseCall("", older, path)];
}

function parseCall(id: string, value: unknown, path: string): TemplateCall {
  const called = new Fields(value, path);
  called.refuseOthers(["name", "arguments"]);
  const name = called.needed("name", called.string("name"));
  const given = parsed(called.string("arguments") ?? "{}");
  if (isObject(given)) return { id, type: "function", function: { name, arguments: given } };
  const at = called.path("arguments");
  throw refused(at, `${at} must be the text of a JSON object.`);
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** @throws ChorusError for a result that no call asked for, and for a call without its result */
export function checkResults(messages: readonly TemplateMessage[]): void {
  let open: string[] = [];
  messages.forEach((message, i) => {
    const refuse = (why: string, field: string) => {
      throw refused(`messages[${i}].${field}`, `messages[${i}] ${why}`);
    };
    if (message.role === "tool") {
      const id = message.tool_call_id ?? "";
      if (!open.includes(id))
        refuse(`is the result of ${JSON.stringify(id)}, which no call before it asked for.`, "tool_call_id");
      open = open.filter((one) => one !== id);
      return;
    }
    if (open.length > 0) refuse(`comes before the result of the call ${JSON.stringify(open[0])}.`, "role");
    open = (message.tool_calls ?? []).map(({ id }) => id);
    if (new Set(open).size < open.length) refuse("has two calls of one id.", "tool_calls");
  });
  if (open.length === 0) return;
  throw refused("messages", `messages end before the result of the call ${JSON.stringify(open[0])}.`);
}

/** Returns the messages as a format's template wants them. */
export function messagesFor(
  { callFormat, readsSystemPrompt, takesArgumentTexts }: Omit<ChatFormat, "open" | "stop">,
  messages: readonly TemplateMessage[],
  request: ToolRequest | null,
): readonly TemplateMessage[] {
  const named = withNames(messages);
  if (callFormat.name === "general") return generalMessages(callFormat, named, request, readsSystemPrompt);
  if (named.every(({ tool_calls }) => !tool_calls)) return named;
  const idOf = idsOfLength(callFormat.idLength, named);
  const asTexts = takesArgumentTexts();
  const written = ({ id, type, function: { name, arguments: given } }: TemplateCall) => ({
    id: idOf(id),
    type,
    function: { name, arguments: asTexts ? JSON.stringify(given) : given },
  });
  return named.map(({ tool_calls: calls, tool_call_id: id, ...message }) => ({
    ...message,
    ...(calls && { tool_calls: calls.map(written) }),
    ...(id !== undefined && { tool_call_id: idOf(id) }),
  }));
}

/** Names each result after the function that returned it: some templates want that, and clients leave it out. */
function withNames(messages: readonly TemplateMessage[]): readonly TemplateMessage[] {
  let names = new Map<string, string>();
  return messages.map((message) => {
    if (message.tool_calls) names = new Map(message.tool_calls.map((call) => [call.id, call.function.name]));
    const name = message.role === "tool" ? names.get(message.tool_call_id ?? "") : undefined;
    return name === undefined ? message : { ...message, name };
  });
}

/** Returns what gives each id one of the length that a template takes; null: of any. */
function idsOfLength(length: number | undefined, messages: readonly TemplateMessage[]): (id: string) => string {
  if (length === undefined) return (id) => id;
  const given = messages.flatMap(({ tool_calls: calls = [] }) => calls.map(({ id }) => id));
  const known = new Map(given.filter((id) => new RegExp(`^[a-zA-Z0-9]{${length}}$`).test(id)).map((id) => [id, id]));
  let number = 0;
  for (const id of given) {
    if (known.has(id)) continue;
    do number += 1;
    while (known.has(numbered(number, length)));
    known.set(id, numbered(number, length));
  }
  return (id) => known.get(id) ?? id;
}

const numbered = (number: number, length: number) => String(number).padStart(length, "0");

/** Calls and results as text, for a template that knows neither. */
function generalMessages(
  { open, head, mid, tail, between, close }: CallFormat,
  messages: readonly TemplateMessage[],
  request: ToolRequest | null,
  readsSystemPrompt: boolean,
): readonly TemplateMessage[] {
  const written: TemplateMessage[] = [];
  /** What the calls of the newest answer returned. */
  let results: string[] = [];
  for (const { tool_calls, tool_call_id: _, name, ...message } of messages) {
    const isResult = message.role === "tool";
    if (isResult || (message.role === "user" && results.length > 0)) {
      // Results, and the question behind them, are one message: templates want the roles by turns.
      if (results.length > 0) written.pop();
      results.push(isResult ? `Result of ${name}: ${JSON.stringify(message.content)}` : message.content);
      written.push({ role: "user", content: results.join("\n") });
      if (!isResult) results = [];
      continue;
    }
    results = [];
    const texts = tool_calls?.map((call) => `${head}${call.function.name}${mid}${argumentsText(call)}${tail}`);
    const said = message.content === "" ? "" : `${message.content}\n`;
    const content = texts ? `${said}${open}${texts.join(between)}${close}` : message.content;
    written.push({ ...message, content, ...(name !== undefined && { name }) });
  }
  return request === null ? written : withText(written, toolsText(request), readsSystemPrompt);
}

/** Returns a call's arguments as JSON in which no tag of a thought stands. */
function argumentsText(call: TemplateCall): string {
  return JSON.stringify(call.function.arguments).replace(/<(?=\/?think>)/g, "\\u003c");
}

/** What a model is told that was not trained for tools. */
function toolsText({ tools, choice }: ToolRequest): string {
  const list = tools.map(({ definition }) => JSON.stringify((definition as { function: unknown }).function)).join("\n");
  const call = '{"tool_calls": [{"name": the function\'s name, "arguments": an object}]}';
  const answer = choice === "auto" ? ` To answer yourself, write {"response": your answer}.` : "";
  return `You can call these functions:\n${list}\nWrite one JSON object. To call functions, write ${call}.${answer}`;
}

/** Adds a text to the system's message, or to the first question where the model knows no such message. */
function withText(
  messages: readonly TemplateMessage[],
  text: string,
  readsSystemPrompt: boolean,
): readonly TemplateMessage[] {
  const role = readsSystemPrompt ? "system" : "user";
  const at = messages.findIndex((message) => message.role === role);
  if (at < 0) return [{ role, content: text }, ...messages];
  const add = (content: string) => (readsSystemPrompt ? `${content}\n\n${text}` : `${text}\n\n${content}`);
  return messages.map((message, i) => (i === at ? { ...message, content: add(message.content) } : message));
}
