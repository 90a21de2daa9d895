// What a chat template does with functions and calls. Templates differ, so it is tried out.

import type { TemplateCall, TemplateMessage } from "../template-message.ts";
import { callFormatOf, GENERAL } from "./call-format.ts";
import { markedFormat, type MarkedFormat } from "./marked-format.ts";

export interface TemplateTools {
  readonly format: MarkedFormat;
  /** Where it has the functions: in a variable, or as JSON in the system's message. "text": nowhere */
  readonly functions: "tools" | "xml_tools" | "system" | "text";
  /** How it takes the arguments of calls. "text": it writes no calls, so they are a part of the content */
  readonly calls: "objects" | "JSON" | "text";
}

export const NO_TEMPLATE_TOOLS: TemplateTools = {
  format: markedFormat(GENERAL, () => null),
  functions: "text",
  calls: "text",
};

const PROBE = "probe";
const QUESTION = { role: "user", content: "Hi" } as const;

const FUNCTION = {
  name: PROBE,
  description: PROBE,
  parameters: { type: "object", properties: { x: { type: "string", description: PROBE } }, required: ["x"] },
};

type Write = (messages: readonly TemplateMessage[], variables?: Readonly<Record<string, unknown>>) => string;

/** A template that refuses something does not show it. */
function shows(write: Write, ...given: Parameters<Write>): boolean {
  try {
    return write(...given).includes(PROBE);
  } catch {
    return false;
  }
}

/** A template that leaves out or refuses a system message is one whose model does not know them. */
export function readsSystemPrompt(write: Write): boolean {
  return shows(write, [{ role: "system", content: PROBE }, QUESTION]);
}

/**
 * @param tokenOf returns the id of a token that has this text, and that no text becomes; null if there is none
 * @param write renders the template
 */
export function templateTools(source: string, tokenOf: (text: string) => number | null, write: Write): TemplateTools {
  const showsFunctions = (place: TemplateTools["functions"]) =>
    place === "system"
      ? shows(write, [{ role: "system", content: "", tools: PROBE }, QUESTION])
      : shows(write, [QUESTION], { [place]: [{ type: "function", function: FUNCTION }] });
  const showsCall = (given: TemplateCall["function"]["arguments"]) => {
    const id = "abcdefghi";
    const call = { id, type: "function", function: { name: "f", arguments: given } } as const;
    const result = { role: "tool", content: "1", name: "f", tool_call_id: id } as const;
    return shows(write, [QUESTION, { role: "assistant", content: "", tool_calls: [call] }, result]);
  };
  const functions = (["tools", "xml_tools", "system"] as const).find(showsFunctions);
  if (functions === undefined) return NO_TEMPLATE_TOOLS;
  return {
    format: markedFormat(
      callFormatOf(source, (text) => tokenOf(text) !== null),
      tokenOf,
    ),
    functions,
    calls: showsCall({ [PROBE]: 1 }) ? "objects" : showsCall(`{"${PROBE}": 1}`) ? "JSON" : "text",
  };
}
