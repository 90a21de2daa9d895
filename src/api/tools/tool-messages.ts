// The history of calls, as clients send it.

import { parseJson } from "../../protocol/bounded-data.ts";
import { isObject } from "../../protocol/json-object.ts";
import type { TemplateCall, TemplateMessage } from "../template-message.ts";
import { Fields, refused } from "../validate.ts";

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
