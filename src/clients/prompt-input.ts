// Turns the Prompt API's input into chat messages.

import type { ChatMessage, GenerationFields } from "../protocol/openai.ts";

export interface PromptMessage {
  readonly role: "system" | "user" | "assistant";
  readonly content: string | readonly { readonly type: string; readonly value: unknown }[];
  /** true, for an assistant's message that is the last one: the answer continues it. */
  readonly prefix?: boolean;
}

/** A string is what the user says. */
export type PromptInput = string | readonly PromptMessage[];

export interface ParsedInput {
  readonly messages: readonly ChatMessage[];
  /** Whether the last message is the beginning of the answer. */
  readonly isContinued: boolean;
}

/** @throws DOMException NotSupportedError for images and sounds; TypeError for what is no input */
export function parseInput(input: PromptInput): ParsedInput {
  if (typeof input === "string") return { messages: [{ role: "user", content: input }], isContinued: false };
  if (!Array.isArray(input)) throw new TypeError("A prompt is a string or a list of messages.");
  const given = input as readonly PromptMessage[];
  const messages = given.map(({ role, content }) => ({ role, content: textOf(content) }));
  return { messages, isContinued: given.at(-1)?.prefix === true };
}

function textOf(content: PromptMessage["content"]): string {
  if (typeof content === "string") return content;
  const texts = content.map(({ type, value }) => {
    if (type !== "text") throw notSupported(`This model reads text only, not "${type}".`);
    if (typeof value !== "string") throw new TypeError("The value of a part of text is a string.");
    return value;
  });
  return texts.join("\n");
}

export function notSupported(message: string): DOMException {
  return new DOMException(message, "NotSupportedError");
}

/** A JSON schema, or a regular expression for the whole answer. */
export type ResponseConstraint = Readonly<Record<string, unknown>> | RegExp;

/** Returns the fields that hold an answer to a constraint. */
export function constraintFields(constraint: ResponseConstraint | undefined): Partial<GenerationFields> {
  if (constraint === undefined) return {};
  if (constraint instanceof RegExp) return { structured_outputs: { regex: constraint.source } };
  return { response_format: { type: "json_schema", json_schema: { schema: constraint } } };
}

type SamplingMode = "most-predictable" | "predictable" | "balanced" | "creative" | "most-creative";

/** null: the model's own. */
const TEMPERATURES: Readonly<Record<SamplingMode, number | null>> = {
  "most-predictable": 0,
  predictable: 0.3,
  balanced: null,
  creative: 1,
  "most-creative": 1.3,
};

export interface SamplingOptions {
  readonly samplingMode?: SamplingMode;
  readonly topK?: number;
  readonly temperature?: number;
}

/** @throws TypeError where both ways of saying it are used, or one is used by half */
export function samplingFields({ samplingMode, topK, temperature }: SamplingOptions): Partial<GenerationFields> {
  if ((topK === undefined) !== (temperature === undefined)) throw new TypeError("topK and temperature go together.");
  if (samplingMode === undefined) return topK === undefined ? {} : { top_k: topK, temperature: temperature ?? null };
  if (topK !== undefined) throw new TypeError("samplingMode can't be combined with topK and temperature.");
  if (!Object.hasOwn(TEMPERATURES, samplingMode)) throw new TypeError(`There is no samplingMode "${samplingMode}".`);
  return { temperature: TEMPERATURES[samplingMode] };
}
