// Turns messages into the tokens of a prompt, by the model's own chat template or, for models without one, as a dialogue.
//
// A person's text must never become a control token: "<|endoftext|>" in a message is thirteen characters, not the end of
// the text, or else anyone could forge another role's turn. But a template writes text and control tokens into one string.
// So before the template runs, one of Unicode's noncharacters replaces the first character of every control token in the
// messages. All control tokens in the template's output are then its own. The text between them gets
// its characters back and is encoded as plain text. Only the tags of thoughts stay in an assistant's messages: templates look
// for them there.

import type { ChatFrame } from "../protocol/chat-frames.ts";
import { CLOSING, NO_REASONING, OPENING, type ReasoningStart } from "../engine/text/reasoning-splitter.ts";
import { ChorusError } from "../protocol/errors.ts";
import type { TemplateMessage } from "./template-message.ts";
import { BoundedTemplate } from "./bounded-template.ts";
import { stripped } from "./jinja-values.ts";
import { TextMask } from "./text-mask.ts";
import { refused } from "./validate.ts";
import { NO_TEMPLATE_TOOLS, readsSystemPrompt, templateTools, type TemplateTools } from "./tools/template-tools.ts";
import type { ToolRequest } from "./tools/tool-fields.ts";
import { toolPrompt } from "./tools/tool-prompt.ts";

export interface ChatTokenizer {
  readonly chatTemplate: string | null;
  /** Used instead where a request has tools. */
  readonly toolTemplate: string | null;
  readonly namedTokens: Readonly<Record<string, string>>;
  readonly controlTokens: readonly string[];
  splitControlTokens(text: string): (string | number)[];
  /** @param isStart false: it follows a control token [true] */
  encodePlain(text: string, isStart?: boolean): number[];
  /** The tokens before a text that is not part of a chat. */
  readonly specialTokens: { readonly before: readonly number[] };
}

export interface ChatFormat {
  /** Strings that end an answer, besides the model's end of text. */
  readonly stop: readonly string[];
  /** Whether a system message reaches the model: many small chat models were trained without them. */
  readonly readsSystemPrompt: boolean;
  /** How answers call functions, and how the template has them. */
  readonly tools: () => TemplateTools;
  open(messages: readonly TemplateMessage[], options?: OpenOptions): OpenedChat;
}

/** Variables of the template that a request sets: JSON. */
export type TemplateVariables = Readonly<Record<string, unknown>>;

interface OpenOptions {
  /** The prompt ends where the last message, an answer, goes on; not where an answer begins. [false] */
  readonly isContinued?: boolean;
  /** [none] */
  readonly variables?: TemplateVariables;
  /** What may be called. [nothing] */
  readonly tools?: ToolRequest | null;
}

export interface OpenedChat {
  readonly tokenIds: number[];
  /** Where the answer begins. */
  readonly reasoning: ReasoningStart;
}

/** @param frame for a model without its own template @throws ChorusError model_invalid if the template isn't Jinja */
export function createChatFormat(tokenizer: ChatTokenizer, frame: ChatFrame | null = null): ChatFormat {
  if (tokenizer.chatTemplate !== null) return templated(tokenizer, { template: tokenizer.chatTemplate, stop: [] });
  return frame ? templated(tokenizer, frame) : dialogue(tokenizer);
}

function templated(tokenizer: ChatTokenizer, { template: source, stop }: ChatFrame): ChatFormat {
  const template = parseTemplate(source);
  const forTools = tokenizer.toolTemplate === null ? template : parseTemplate(tokenizer.toolTemplate);
  const write = (messages: readonly TemplateMessage[], isContinued: boolean, variables: TemplateVariables = {}) =>
    render(usesTools(messages, variables) ? forTools : template, {
      ...tokenizer.namedTokens,
      tools: null,
      documents: null,
      ...variables,
      // Newer templates have another name for thoughts.
      messages: messages.map((one) => (one.reasoning_content ? { ...one, thinking: one.reasoning_content } : one)),
      add_generation_prompt: !isContinued,
    });
  const mayReason = source.includes(OPENING) || source.includes(CLOSING);
  const readsSystem = readsSystemPrompt((messages) => write(messages, false));
  let ways: TemplateTools | null = null;
  const tools = () =>
    (ways ??= templateTools(
      tokenizer.toolTemplate ?? source,
      (text) => controlToken(tokenizer, text),
      (messages, variables) => write(messages, false, variables),
    ));
  return {
    stop,
    tools,
    readsSystemPrompt: readsSystem,
    open: (messages, { isContinued = false, variables = {}, tools: request = null } = {}) => {
      const definitions = request?.tools.map(({ definition }) => definition) ?? [];
      const mask = new TextMask(tokenizer.controlTokens, { messages, variables, definitions });
      const hidden = messages.map((message) => mask.hideInMessage(message));
      const called = request && { ...request, definitions: mask.hideIn(definitions) };
      const own = mask.hideIn(variables);
      const writeHidden = (some: readonly TemplateMessage[]) => {
        if (called === null && !hasCalls(some)) return write(some, isContinued, own);
        const prompt = toolPrompt(tools(), some, called, readsSystem);
        return write(prompt.messages, isContinued, { ...own, ...prompt.variables });
      };
      const text = isContinued ? leftOpen(writeHidden, hidden, mask.marker) : writeHidden(hidden);
      const tokenIds = tokenizer
        .splitControlTokens(text)
        .flatMap((part, i) => (typeof part === "number" ? [part] : tokenizer.encodePlain(mask.reveal(part), i === 0)));
      const started = isContinued ? messages.at(-1) : undefined;
      return { tokenIds, reasoning: mayReason ? reasoningAfter(text, started) : NO_REASONING };
    },
  };
}

const hasCalls = (messages: readonly TemplateMessage[]) =>
  messages.some(({ role, tool_calls }) => role === "tool" || tool_calls);

function usesTools(messages: readonly TemplateMessage[], { tools }: TemplateVariables): boolean {
  return (tools ?? null) !== null || hasCalls(messages);
}

function controlToken(tokenizer: ChatTokenizer, text: string): number | null {
  const [id, more] = tokenizer.splitControlTokens(text);
  return typeof id === "number" && more === undefined ? id : null;
}

/**
 * Where an answer begins that follows a text: some templates open the thought, and close it where none is requested.
 * @param started what there is of the answer; undefined: it is new
 */
function reasoningAfter(text: string, started: TemplateMessage | undefined): ReasoningStart {
  if (started?.content === "") return { state: "open", written: started.reasoning_content ?? "" };
  if (started !== undefined) return { state: "may open", written: started.content };
  const end = text.trimEnd();
  if (end.endsWith(OPENING)) return { state: "open", written: "" };
  return end.endsWith(CLOSING) ? NO_REASONING : { state: "may open", written: "" };
}

/**
 * Returns the text up to the end of the last message, which a marker shows, as in transformers: its own text may be anywhere.
 * A message without content ends in its thought.
 * A template that trims messages takes the space behind the marker; then the message's own white space goes, too.
 */
function leftOpen(
  write: (messages: readonly TemplateMessage[]) => string,
  messages: readonly TemplateMessage[],
  marker: string,
): string {
  const last = messages.at(-1);
  const field = last?.content === "" ? "reasoning_content" : "content";
  const content = last?.[field] ?? "";
  const marked = write(
    messages.map((message) => (message === last ? { ...message, [field]: `${content}${marker} ` } : message)),
  );
  const end = marked.lastIndexOf(marker);
  const open = marked.slice(0, Math.max(0, end)).replaceAll(`${marker} `, "").replaceAll(marker, "");
  // Templates may set the thoughts before an answer anew.
  const answer = content.split(CLOSING).at(-1) ?? content;
  if (end < 0 || !stripped(open, "right").endsWith(stripped(answer))) {
    const why = "The model's chat template does not keep the last message as it is, so it cannot be continued.";
    throw refused("continue_final_message", why);
  }
  return marked[end + 1] === " " ? open : stripped(open, "right");
}

/** For models that weren't trained for chats: a dialogue to continue, with stop strings before the next question. */
function dialogue(tokenizer: ChatTokenizer): ChatFormat {
  const { before } = tokenizer.specialTokens;
  const line = ({ role, content }: TemplateMessage) =>
    role === "system" ? `${content}\n` : `${role === "user" ? "User" : "Assistant"}: ${content}`;
  return {
    stop: ["\nUser:"],
    tools: () => NO_TEMPLATE_TOOLS,
    readsSystemPrompt: true,
    open: (messages, { isContinued = false, variables = {}, tools = null } = {}) => {
      const name = "chat_template_kwargs";
      if (Object.keys(variables).length > 0)
        throw refused(name, `${name} need a model with a chat template; this one has none.`);
      const called = tools && { ...tools, definitions: tools.tools.map(({ definition }) => definition) };
      const prompt = toolPrompt(NO_TEMPLATE_TOOLS, messages, called, true);
      const lines = [...prompt.messages.map(line), ...(isContinued ? [] : ["Assistant:"])];
      // A text is being continued, and the model knows texts only with what its tokenizer puts before them.
      return { tokenIds: [...before, ...tokenizer.encodePlain(lines.join("\n"))], reasoning: NO_REASONING };
    },
  };
}

function parseTemplate(source: string): BoundedTemplate {
  try {
    return new BoundedTemplate(source);
  } catch (cause) {
    const message = `The model's chat template cannot be read: ${reasonOf(cause)}`;
    throw new ChorusError("model_invalid", message, "chat_template", { cause }); // whichever file it is in
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
