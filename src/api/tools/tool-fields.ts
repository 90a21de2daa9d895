// The fields of a request that say which functions a model may call. OpenAI's older "functions" are tools, too.

import { isObject } from "../../protocol/json-object.ts";
import type { ChatCompletionRequest } from "../../protocol/openai.ts";
import { jsonCopy } from "../json-copy.ts";
import { Fields, invalidType, invalidValue, missing, refused, unsupported } from "../validate.ts";

export const TOOL_FIELDS = [
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "functions",
  "function_call",
] as const satisfies readonly (keyof ChatCompletionRequest)[];

/** OpenAI's limit. */
const MAX_TOOLS = 128;
/** Characters of all tools as JSON. */
const MAX_LENGTH = 100_000;
const NAME = /^[\w-]{1,64}$/;

interface Tool {
  readonly name: string;
  /** As templates have it. */
  readonly definition: unknown;
  /** Of the call's arguments, which are an object. */
  readonly schema: unknown;
  /** Arguments that can only be texts. */
  readonly texts: readonly string[];
  /** The field that has the schema. */
  readonly param: string;
  /** Whether a keyword of its schema that can't be held is refused; else it is left out, with a warning. */
  readonly isStrict: boolean;
  readonly isCallable: boolean;
}

export interface ToolRequest {
  readonly tools: readonly Tool[];
  /** "named": it calls one function, once. */
  readonly choice: "auto" | "required" | "named";
  readonly isParallel: boolean;
  /** The older fields: the answer has a function_call. */
  readonly isOlder: boolean;
}

/** Returns null where nothing may be called. @throws ChorusError naming the field */
export function parseTools(fields: Fields): ToolRequest | null {
  const isOlder = fields.has("functions") || fields.has("function_call");
  const [list, chosen] = isOlder ? (["functions", "function_call"] as const) : (["tools", "tool_choice"] as const);
  const tools = fields.list(list, (value, path) => (isOlder ? parseFunction(value, path) : parseTool(value, path)));
  const isParallel = fields.boolean("parallel_tool_calls") ?? true;
  if (isOlder && fields.has("tools"))
    throw refused("tools", "functions and function_call are older names; with tools, give tool_choice.");
  if (isOlder && fields.has("tool_choice"))
    throw refused("tool_choice", "tool_choice is for tools; with functions, give function_call.");
  const choice = parseChoice(fields, chosen, tools ?? []);
  if (tools === undefined || tools.length === 0) {
    if (choice === null || choice.type === "auto") return null;
    throw refused(chosen, `${chosen} needs ${list}, which has no function.`);
  }
  checkTools(tools, list);
  if (choice === null) return null;
  const { names, type } = choice;
  return {
    tools: tools.map((tool) => ({ ...tool, isCallable: names?.includes(tool.name) ?? true })),
    choice: type,
    isParallel: isParallel && !isOlder && type !== "named",
    isOlder,
  };
}

function checkTools(tools: readonly Tool[], list: string): void {
  if (tools.length > MAX_TOOLS)
    throw refused(list, `${list} has ${tools.length} functions; at most ${MAX_TOOLS} are allowed.`);
  const { length } = JSON.stringify(tools.map(({ definition }) => definition));
  if (length > MAX_LENGTH)
    throw refused(list, `${list} has ${length} characters of JSON; at most ${MAX_LENGTH} are allowed.`);
  const twice = tools.findIndex(({ name }, i) => tools.slice(0, i).some((other) => other.name === name));
  if (twice < 0) return;
  const path = `${list}[${twice}]`;
  throw refused(path, `${path} is another function with the name ${JSON.stringify(tools[twice]?.name)}.`);
}

function parseTool(value: unknown, path: string): Tool {
  const tool = new Fields(value, path);
  const type = tool.needed("type", tool.string("type"));
  const typePath = tool.path("type");
  if (type !== "function")
    throw unsupported(typePath, `${typePath} is "${type}"; only tools of type "function" can be called here.`);
  tool.refuseOthers(["type", "function"]);
  return parseFunction(tool.needed("function", tool.get("function")), tool.path("function"));
}

function parseFunction(value: unknown, path: string): Tool {
  const given = new Fields(value, path);
  given.refuseOthers(["name", "description", "parameters", "strict"]);
  const name = given.needed("name", given.string("name"));
  if (!NAME.test(name)) throw invalidValue(given.path("name"), 'up to 64 letters, digits, "_" or "-"', name);
  const description = given.string("description");
  const isStrict = given.boolean("strict") ?? false;
  const param = given.path("parameters");
  const parameters = given.get("parameters") ?? { type: "object", properties: {}, additionalProperties: false };
  if (!isObject(parameters)) throw invalidType(param, "a JSON schema", parameters);
  const schema: Record<string, unknown> = { type: "object", ...jsonCopy(parameters, param) };
  if (schema["type"] !== "object") throw invalidValue(`${param}.type`, '"object"', schema["type"]);
  const definition = { name, ...(description !== undefined && { description }), parameters: schema };
  const tool = { type: "function", function: definition };
  return { name, definition: tool, schema, texts: textsIn(schema), param, isStrict, isCallable: true };
}

function textsIn({ properties }: Readonly<Record<string, unknown>>): string[] {
  const isText = (one: unknown) => {
    if (!isObject(one)) return false;
    const { type, enum: listed } = one;
    return (
      type === "string" ||
      (type === undefined && Array.isArray(listed) && listed.every((value) => typeof value === "string"))
    );
  };
  return isObject(properties) ? Object.keys(properties).filter((name) => isText(properties[name])) : [];
}

/** Returns null for "none". `names`: the functions that may be called; null: all. */
function parseChoice(
  fields: Fields,
  field: "tool_choice" | "function_call",
  tools: readonly Tool[],
): { readonly type: ToolRequest["choice"]; readonly names: readonly string[] | null } | null {
  const value = fields.get(field);
  const modes = field === "tool_choice" ? (["none", "auto", "required"] as const) : (["none", "auto"] as const);
  if (!isObject(value)) {
    const mode = fields.oneOf(field, modes) ?? "auto";
    return mode === "none" ? null : { type: mode, names: null };
  }
  const choice = new Fields(value, field);
  const nameOf = (named: Fields) => {
    named.refuseOthers(["name"]);
    const name = named.needed("name", named.string("name"));
    if (tools.some((tool) => tool.name === name)) return name;
    throw invalidValue(named.path("name"), "the name of one of the request's functions", name);
  };
  const nameIn = (given: unknown, path: string) => {
    const tool = new Fields(given, path);
    tool.refuseOthers(["type", "function"]);
    tool.oneOf("type", ["function"]);
    return nameOf(new Fields(tool.get("function") ?? {}, tool.path("function")));
  };
  if (field === "function_call") return { type: "named", names: [nameOf(choice)] };
  const type = choice.needed("type", choice.oneOf("type", ["function", "allowed_tools"]));
  if (type === "function") return { type: "named", names: [nameIn(value, field)] };
  choice.refuseOthers(["type", "allowed_tools"]);
  const allowed = new Fields(choice.get("allowed_tools") ?? {}, choice.path("allowed_tools"));
  allowed.refuseOthers(["mode", "tools"]);
  const given = allowed.oneOf("mode", ["auto", "required"]);
  const mode = allowed.needed("mode", given);
  const names = allowed.needed("tools", allowed.list("tools", nameIn));
  if (names.length === 0) throw missing(allowed.path("tools"));
  return { type: mode, names };
}
