import type { ChatCompletionRequest, CompletionRequest } from "../../index.ts";
import type { ServerSoftware } from "./server-software.ts";

/** Fields of OpenAI's API, which every server takes. */
const COMMON = [
  "temperature",
  "top_p",
  "presence_penalty",
  "frequency_penalty",
  "seed",
  "stop",
  "logprobs",
  "top_logprobs",
  "response_format",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
] as const;

/** Returns whether the software takes a field of our API with this name, and understands it. */
export function takesField({ extraFields }: ServerSoftware, name: string): boolean {
  return name === "max_tokens" || COMMON.some((one) => one === name) || name in extraFields;
}

/**
 * Returns a streamed request's body with the fields that the server's software takes, under its names.
 * @param soFar the answer's text so far; the server continues it
 * @param numTokens number of tokens of `soFar`
 */
export function writeRequest(
  body: ChatCompletionRequest | CompletionRequest,
  model: string,
  software: ServerSoftware,
  soFar: string,
  numTokens: number,
): string {
  const given: Readonly<Record<string, unknown>> = { ...body };
  const fields: Record<string, unknown> = { model };
  for (const name of COMMON) if (given[name] !== undefined && given[name] !== null) fields[name] = given[name];
  for (const [name, theirs] of Object.entries(software.extraFields)) {
    if (given[name] !== undefined && given[name] !== null) fields[theirs] = given[name];
  }
  const maxTokens = body.max_tokens ?? null;
  if (maxTokens !== null) fields[software.maxTokens] = Math.max(1, maxTokens - numTokens);
  Object.assign(
    fields,
    "messages" in body ? chatFields(body, software, soFar) : { prompt: `${String(body.prompt)}${soFar}` },
  );
  return JSON.stringify({ ...fields, stream: true, stream_options: { include_usage: true } });
}

function chatFields(body: ChatCompletionRequest, software: ServerSoftware, soFar: string): Record<string, unknown> {
  const isContinued = body.continue_final_message === true || soFar !== "";
  const flag = isContinued && software.continues === "flag";
  return {
    messages: withText(body, soFar),
    // vLLM refuses one without the other. Our own engine knows only the first, which implies the second.
    ...(flag && { continue_final_message: true, ...(software.title !== "Chorus" && { add_generation_prompt: false }) }),
    ...(body.chat_template_kwargs &&
      software.continues === "flag" && { chat_template_kwargs: body.chat_template_kwargs }),
  };
}

/** Returns the conversation, with the answer so far as its last message. */
function withText({ messages, continue_final_message: isContinued }: ChatCompletionRequest, soFar: string) {
  if (soFar === "") return messages;
  const last = messages.at(-1);
  const begun = typeof last?.content === "string" ? last.content : "";
  if (isContinued && last) return [...messages.slice(0, -1), { ...last, content: begun + soFar }];
  return [...messages, { role: "assistant", content: soFar }];
}
