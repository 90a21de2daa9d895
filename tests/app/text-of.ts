import type { ChatMessageParam } from "../../src/index.ts";

/** Returns a message's text: the app sends no parts. */
export function textOf(message: ChatMessageParam | undefined): string {
  return typeof message?.content === "string" ? message.content : "";
}
