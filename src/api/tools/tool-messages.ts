// The history of calls: messages as clients send them, and as a model's template wants them.

import { ChorusError } from "../../protocol/errors.ts";
import { isObject } from "../../protocol/json-object.ts";
import type { TemplateCall, TemplateMessage } from "../template-message.ts";
import { Fields, missing } from "../validate.ts";
import type { CallFormat } from "./call-format.ts";
import type { ToolRequest } from "./tool-fields.ts";

/** Returns an assistant's calls; undefined if there are none. The older function_call is one without an id. */
export function parseCalls(message: Fields): readonly TemplateCall[] | undefined {
  const calls = message.list("tool_calls", (value, path) => {
    const call = new Fields(value, path);
    call.refuseOthers(["id", "type", "function"], ["index"]);
    call.oneOf("type", ["function"]);
    const id = call.string("id");
    if (id === undefined) throw missing(call.path("id"));
    return parseCall(id, call.get("function"), call.path("function"));
  });
  const older = message.get("function_call");
  if (older !== undefined) return [parseCall("", older, message.path("function_call"))];
  return calls?.length === 0 ? undefined : calls;
}

function parseCall(id: string, value: unknown, path: string): TemplateCall {
  if (value === undefined) throw missing(path);
  const called = new Fields(value, path);
  called.refuseOthers(["name", "arguments"]);
  const name = called.string("name");
  if (name === undefined) throw missing(called.path("name"));
  const given = parsed(called.string("arguments") ?? "{}");
  if (isObject(given)) return { id, type: "function", function: { name, arguments: given } };
  const message = `${called.path("arguments")} must be the text of a JSON object.`;
  throw new ChorusError("invalid_value", message, called.path("arguments"));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** @throws ChorusError for a result that no call asked for, and for a call without its result */
export function checkResults(messages: readonly TemplateMessage[], pathOf = (i: number) => `messages[${i}]`): void {
  let open: string[] = [];
  messages.forEach((message, i) => {
    const refuse = (why: string, field: string) => {
      throw new ChorusError("invalid_value", `${pathOf(i)} ${why}`, `${pathOf(i)}.${field}`);
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
  const message = `messages end before the result of the call ${JSON.stringify(open[0])}.`;
  throw new ChorusError("invalid_value", message, "messages");
}

/** Returns the messages as a format's template wants them. */
export function messagesFor(
  format: CallFormat,
  messages: readonly TemplateMessage[],
  request: ToolRequest | null,
  readsSystemPrompt: boolean,
): readonly TemplateMessage[] {
  if (format.name === "general") return generalMessages(format, messages, request, readsSystemPrompt);
  const { idLength } = format;
  if (idLength === undefined) return messages;
  const ids = new Map<string, string>();
  const short = (id: string) => {
    if (new RegExp(`^[a-zA-Z0-9]{${idLength}}$`).test(id)) return id;
    ids.set(id, ids.get(id) ?? String(ids.size + 1).padStart(idLength, "0"));
    return ids.get(id) ?? id;
  };
  return messages.map((message) => ({
    ...message,
    ...(message.tool_calls && { tool_calls: message.tool_calls.map((call) => ({ ...call, id: short(call.id) })) }),
    ...(message.tool_call_id !== undefined && { tool_call_id: short(message.tool_call_id) }),
  }));
}

/** Calls and results as text, for a template that knows neither. */
function generalMessages(
  { open, head, mid, tail, between, close }: CallFormat,
  messages: readonly TemplateMessage[],
  request: ToolRequest | null,
  readsSystemPrompt: boolean,
): readonly TemplateMessage[] {
  const names = new Map(
    messages.flatMap(({ tool_calls = [] }) => tool_calls.map((call) => [call.id, call.function.name])),
  );
  const written: TemplateMessage[] = [];
  let results: string[] = [];
  for (const { tool_calls, tool_call_id, ...message } of messages) {
    if (message.role === "tool") {
      if (results.length > 0) written.pop(); // the results of one answer are one message
      results = [...results, `Result of ${names.get(tool_call_id ?? "") ?? "the call"}: ${message.content}`];
      written.push({ role: "user", content: results.join("\n") });
      continue;
    }
    results = [];
    const texts = tool_calls?.map(
      (call) => `${head}${call.function.name}${mid}${JSON.stringify(call.function.arguments)}${tail}`,
    );
    written.push(texts ? { ...message, content: `${open}${texts.join(between)}${close}` } : message);
  }
  return request === null ? written : withText(written, toolsText(request), readsSystemPrompt);
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
