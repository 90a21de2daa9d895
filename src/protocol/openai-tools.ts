// OpenAI's shapes of tools and their calls.

import type { JsonSchema } from "./json-schema.ts";

/** A function that a model may call. */
export interface ChatTool {
  type: "function";
  function: FunctionDefinition;
}

export interface FunctionDefinition {
  /** Up to 64 letters, digits, "_" and "-". */
  name: string;
  /** What it does, for the model. [none] */
  description?: string | null;
  /** A JSON schema of its arguments, which are an object. [no arguments] */
  parameters?: JsonSchema | null;
  /** true: a schema that can't be held whole is refused. [false] */
  strict?: boolean | null;
}

interface NamedFunction {
  type: "function";
  function: { name: string };
}

/** Which functions are called. Custom tools are refused. */
export type ToolChoice =
  | "none"
  | "auto"
  | "required"
  | NamedFunction
  | { type: "custom" }
  | {
      type: "allowed_tools";
      allowed_tools: { mode: "auto" | "required"; tools: readonly (NamedFunction | { [field: string]: unknown })[] };
    };

/** A call in an answer, and in the messages that repeat it. */
export interface ToolCall {
  id: string;
  type: "function";
  function: {
    name: string;
    /** The text of a JSON object. */
    arguments: string;
  };
}

export interface ToolCallDelta {
  index: number;
  id?: string;
  type?: "function";
  function: { name?: string; arguments: string };
}
