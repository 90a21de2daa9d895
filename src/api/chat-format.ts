// Turns messages into the tokens of a prompt, by the model's own chat template or, for models without one, as a dialogue.
//
// What a person types must never become a control token: "<|endoftext|>" in a message is thirteen characters, not the end of
// the text, or else anyone could forge another role's turn. But a template writes text and control tokens into one string.
// So before the template runs, one of Unicode's noncharacters replaces the first character of every control token in the
// messages. All control tokens in the template's output are then its own. The text between them gets
// its characters back and is encoded as plain text.

import type { ChatFrame } from "../protocol/catalogue.ts";
import { ChorusError } from "../protocol/errors.ts";
import type { ChatMessage } from "../protocol/openai.ts";
import { BoundedTemplate } from "./bounded-template.ts";
import { CLOSING, OPENING, type ReasoningStart } from "./reasoning-splitter.ts";
import { isObject } from "./validate.ts";

/** The part of a model's tokenizer that chats need. */
export interface ChatTokenizer {
  readonly chatTemplate: string | null;
  readonly namedTokens: Readonly<Record<string, string>>;
  readonly controlTokens: readonly string[];
  splitControlTokens(text: string): (string | number)[];
  encodePlain(text: string): number[];
  /** What goes before a text that is not part of a chat. */
  readonly specialTokens: { readonly before: readonly number[] };
}

export interface ChatFormat {
  /** Strings that end an answer, besides the model's end of text. */
  readonly stop: readonly string[];
  /** Whether a system message reaches the model: many small chat models were trained without them. */
  readonly readsSystemPrompt: boolean;
  /** Returns the prompt of a conversation. */
  open(messages: readonly ChatMessage[], options?: OpenOptions): OpenedChat;
}

/** Variables of the template that a request sets: JSON. */
export type TemplateVariables = Readonly<Record<string, unknown>>;

interface OpenOptions {
  /** The prompt ends where the last message, an answer, goes on; not where an answer begins. [false] */
  readonly isContinued?: boolean;
  /** [none] */
  readonly variables?: TemplateVariables;
}

export interface OpenedChat {
  readonly tokenIds: number[];
  /** Where the answer's reasoning is. */
  readonly reasoning: ReasoningStart;
}

/**
 * @param frame for a model without its own template
 * @throws ChorusError model_invalid if the template isn't valid Jinja.
 */
export function createChatFormat(tokenizer: ChatTokenizer, frame: ChatFrame | null = null): ChatFormat {
  if (tokenizer.chatTemplate !== null) return templated(tokenizer, { template: tokenizer.chatTemplate, stop: [] });
  return frame ? templated(tokenizer, frame) : dialogue(tokenizer);
}

function templated(tokenizer: ChatTokenizer, { template: source, stop }: ChatFrame): ChatFormat {
  const template = parseTemplate(source);
  const write = (messages: readonly ChatMessage[], isContinued: boolean, variables: TemplateVariables = {}) =>
    render(template, {
      ...tokenizer.namedTokens,
      tools: null,
      documents: null,
      ...variables,
      messages,
      add_generation_prompt: !isContinued,
    });
  const mayReason = source.includes(CLOSING);
  return {
    stop,
    readsSystemPrompt: readsSystemPrompt((messages) => write(messages, false)),
    open: (messages, { isContinued = false, variables = {} } = {}) => {
      const mask = new Mask(tokenizer.controlTokens, { messages, variables });
      const hidden = messages.map((message) => ({ ...mask.hideIn(message), role: message.role }));
      const whole = write(hidden, isContinued, mask.hideIn(variables));
      const text = isContinued ? leaveOpen(whole, hidden.at(-1)?.content ?? "") : whole;
      const tokenIds = tokenizer
        .splitControlTokens(text)
        .flatMap((part) => (typeof part === "number" ? [part] : tokenizer.encodePlain(mask.reveal(part))));
      return { tokenIds, reasoning: mayReason && !isContinued ? reasoningAfter(text) : "none" };
    },
  };
}

/** Where the reasoning is of an answer that follows a text: some templates open it, and close it where it is not wanted. */
function reasoningAfter(text: string): ReasoningStart {
  const end = text.trimEnd();
  if (end.endsWith(OPENING)) return "open";
  return end.endsWith(CLOSING) ? "none" : "may open";
}

/** A template that refuses or leaves out a system message is one whose model does not know them. */
function readsSystemPrompt(write: (messages: readonly ChatMessage[]) => string): boolean {
  const probe = "system-prompt-probe";
  try {
    return write([
      { role: "system", content: probe },
      { role: "user", content: "Hi" },
    ]).includes(probe);
  } catch {
    return false;
  }
}

/** Cuts off what the template wrote after the last message. Many templates trim messages. */
function leaveOpen(text: string, content: string): string {
  for (const written of [content, content.trimStart(), content.trim()]) {
    const start = text.lastIndexOf(written);
    if (start >= 0) return text.slice(0, start + written.length);
  }
  const message = "The model's chat template does not keep the last message as it is, so it cannot be continued.";
  throw new ChorusError("invalid_value", message, "continue_final_message");
}

/** For models that weren't trained for chats: a dialogue to continue, with stop strings before the next question. */
function dialogue(tokenizer: ChatTokenizer): ChatFormat {
  const { before } = tokenizer.specialTokens;
  const line = ({ role, content }: ChatMessage) =>
    role === "system" ? `${content}\n` : `${role === "user" ? "User" : "Assistant"}: ${content}`;
  return {
    stop: ["\nUser:"],
    readsSystemPrompt: true,
    open: (messages, { isContinued = false, variables = {} } = {}) => {
      if (Object.keys(variables).length > 0) {
        const message = "chat_template_kwargs need a model with a chat template; this one has none.";
        throw new ChorusError("invalid_value", message, "chat_template_kwargs");
      }
      const lines = [...messages.map(line), ...(isContinued ? [] : ["Assistant:"])];
      // A text is being continued, and the model knows texts only with what its tokenizer puts before them.
      return { tokenIds: [...before, ...tokenizer.encodePlain(lines.join("\n"))], reasoning: "none" };
    },
  };
}

/** The template's name in errors, whichever file it is in. */
const CHAT_TEMPLATE = "chat_template";

function parseTemplate(source: string): BoundedTemplate {
  try {
    return new BoundedTemplate(source);
  } catch (cause) {
    throw new ChorusError(
      "model_invalid",
      `The model's chat template cannot be read: ${reasonOf(cause)}`,
      CHAT_TEMPLATE,
      {
        cause,
      },
    );
  }
}

function render(template: BoundedTemplate, variables: Parameters<BoundedTemplate["render"]>[0]): string {
  try {
    return template.render(variables);
  } catch (cause) {
    const message = `The model's chat template refuses these messages: ${reasonOf(cause)}`;
    throw new ChorusError("invalid_value", message, "messages", { cause });
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const FIRST_NONCHARACTER = 0xfdd0;
const NUM_NONCHARACTERS = 32;

/** Replaces the first characters of control tokens by code points that occur in no message. */
class Mask {
  /** [character, its mask] */
  readonly #pairs: readonly (readonly [string, string])[];

  /** @param written all that is to be masked */
  constructor(controlTokens: readonly string[], written: unknown) {
    const initials = [...new Set(controlTokens.map((token) => String.fromCodePoint(token.codePointAt(0) ?? 0)))];
    const text = textsIn(written).join("");
    const unused = Array.from({ length: NUM_NONCHARACTERS }, (_, i) =>
      String.fromCharCode(FIRST_NONCHARACTER + i),
    ).filter((noncharacter) => !text.includes(noncharacter));
    this.#pairs = initials.map((initial, i) => {
      const mask = unused[i];
      if (mask === undefined) {
        throw new ChorusError(
          "invalid_value",
          "messages hold all of Unicode's noncharacters U+FDD0 to U+FDEF.",
          "messages",
        );
      }
      return [initial, mask];
    });
  }

  /** Returns a copy of a JSON value with every text in it masked. */
  hideIn<T>(value: T): T {
    return mapTexts(value, (text) => this.#hide(text)) as T;
  }

  reveal(text: string): string {
    return this.#pairs.reduce((plain, [initial, mask]) => plain.replaceAll(mask, initial), text);
  }

  #hide(text: string): string {
    return this.#pairs.reduce((masked, [initial, mask]) => masked.replaceAll(initial, mask), text);
  }
}

function textsIn(value: unknown): string[] {
  const texts: string[] = [];
  mapTexts(value, (text) => {
    texts.push(text);
    return text;
  });
  return texts;
}

/** A copy of a JSON value, its texts changed; the names of fields stay. */
function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return value.map((element) => mapTexts(element, change));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, mapTexts(field, change)]));
}
