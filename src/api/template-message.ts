import type { ChatMessage } from "../protocol/openai.ts";

/** A message as chat templates know it. */
export interface TemplateMessage extends Omit<ChatMessage, "role"> {
  /** "tool": what a function returned. */
  readonly role: ChatMessage["role"] | "tool";
  /** The functions that an assistant called. */
  readonly tool_calls?: readonly TemplateCall[];
  /** The call whose result it is. */
  readonly tool_call_id?: string;
}

export interface TemplateCall {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> | string };
}
