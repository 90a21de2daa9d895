import type { ChatCompletionChunkChoice, ChatFinishReason, FinishReason } from "../../protocol/openai.ts";
import type { ToolCall } from "../../protocol/openai-tools.ts";
import { numChoices } from "../answer.ts";
import type { ParsedRequest } from "../parsed-request.ts";
import { CallReader, type AnswerPart, type CallPlan } from "./call-reader.ts";

/** Returns what reads the calls of each choice; null where there can be none. */
export function callsOf(request: ParsedRequest): AnswerCalls[] | null {
  const { calls } = request;
  return calls && Array.from({ length: numChoices(request) }, () => new AnswerCalls(calls));
}

type Delta = ChatCompletionChunkChoice["delta"];

const LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

export class AnswerCalls {
  readonly #plan: CallPlan;
  readonly #reader: CallReader;
  readonly #calls: ToolCall[] = [];
  #content = "";

  constructor(plan: CallPlan) {
    this.#plan = plan;
    this.#reader = new CallReader(plan);
  }

  /** Returns what the answer's next text adds to its message. */
  push(text: string, isLast: boolean): Delta[] {
    return this.#reader.push(text, isLast).map((part) => this.#deltaOf(part));
  }

  /** Returns why the answer has ended, as OpenAI says it. */
  finishReason(reason: FinishReason): ChatFinishReason {
    const { choice, isOlder } = this.#plan;
    if (reason !== "stop" || this.#calls.length === 0) return reason;
    if (!this.#reader.hasWholeCalls) return "length"; // a stop string has cut the last call
    if (choice === "named") return reason;
    return isOlder ? "function_call" : "tool_calls";
  }

  /** Returns the message's parts, once the answer has ended. */
  message(): { content: string | null; tool_calls?: ToolCall[]; function_call?: ToolCall["function"] } {
    const [first] = this.#calls;
    if (first === undefined) return { content: this.#content };
    const content = this.#content === "" ? null : this.#content;
    return this.#plan.isOlder ? { content, function_call: first.function } : { content, tool_calls: this.#calls };
  }

  #deltaOf(part: AnswerPart): Delta {
    if (part.type === "content") {
      this.#content += part.text;
      return { content: part.text };
    }
    const { index } = part;
    if (part.type === "call") {
      const call: ToolCall = { id: this.#newId(), type: "function", function: { name: part.name, arguments: "" } };
      this.#calls.push(call);
      const begun = { name: part.name, arguments: "" };
      return this.#plan.isOlder ? { function_call: begun } : { tool_calls: [{ ...call, index, function: begun }] };
    }
    const call = this.#calls[index];
    if (call) call.function.arguments += part.text;
    const added = { arguments: part.text };
    return this.#plan.isOlder ? { function_call: added } : { tool_calls: [{ index, function: added }] };
  }

  #newId(): string {
    const { idLength } = this.#plan.format;
    const random = crypto.getRandomValues(new Uint8Array(idLength ?? 24));
    const letters = Array.from(random, (byte) => LETTERS[byte % LETTERS.length]).join("");
    return idLength === undefined ? `call_${letters}` : letters;
  }
}
