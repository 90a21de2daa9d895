import type { ChatMessage } from "../protocol/openai.ts";

export interface TemplateMessage extends Omit<ChatMessage, "role"> {
  /** "tool", or what a template calls it: what a function returned. */
  readonly role: ChatMessage["role"] | "tool" | "tool_response";
  readonly tool_calls?: readonly TemplateCall[];
  readonly tool_call_id?: string;
  /** The functions as JSON, where a template has them in the system's message. */
  readonly tools?: string;
}

export interface TemplateCall {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> | string };
}
