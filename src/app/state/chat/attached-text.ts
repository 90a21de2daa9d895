// Files that are dropped or pasted into a chat: their text goes into the question.

import { ChorusError } from "../../../index.ts";
import { reservedTokens } from "../settings/question-settings.ts";
import { tokensOf, type Tokenize } from "./context-cut.ts";
import type { Pane } from "./pane.ts";

/** A book has about a megabyte. */
const MAX_BYTES = 4 * 2 ** 20;
/** For what a template writes around the question. [tokens] */
const TEMPLATE_TOKENS = 40;
/** Fewer would say nothing of a file. [tokens] */
const FEWEST_TOKENS = 20;
/** No token stands for more, but for long runs of spaces. */
const LONGEST_TOKEN = 16;
/** Each cut leaves a little less than was counted: tokens are not equally long. */
const CAUTION = 0.95;

/** How a file of chats begins. */
const EXPORT = /^\{\s*"app":\s*"chorus"/;

const refusal = (message: string) => new ChorusError("invalid_value", message, "file");

/**
 * Puts a file's text behind a pane's draft. What the model's context has no room for is cut, and the draft says so; a server's
 * context is not known.
 * @throws ChorusError if it is no text, or too large
 */
export async function attachText(pane: Pane, file: File): Promise<void> {
  const text = await readText(file);
  const { engine, isRemote, settings } = pane.asking.getState();
  if (engine === null && !isRemote) throw refusal(`The model is not ready yet. Drop ${file.name} again when it is.`);
  const part = engine === null || isRemote ? text : await fitting(text, pane, engine, settings);
  const cut =
    part.length < text.length
      ? `\n(The model has room for the first ${part.length.toLocaleString("en")} of ${text.length.toLocaleString("en")} characters of ${file.name}.)`
      : "";
  const { draft } = pane.store.getState();
  const before = draft.trim() === "" ? "" : `${draft.trimEnd()}\n\n`;
  pane.setDraft(`${before}${file.name}:\n${fenced(part, file.name)}${cut}\n\n`);
}

async function readText(file: File): Promise<string> {
  if (file.size > MAX_BYTES) {
    throw refusal(
      `${file.name} has ${Math.ceil(file.size / 2 ** 20)} MB; at most ${MAX_BYTES / 2 ** 20} MB of text are read.`,
    );
  }
  const bytes = await file.arrayBuffer();
  const begin = new TextDecoder("latin1").decode(bytes.slice(0, 5));
  if (begin === "%PDF-")
    throw refusal(`${file.name} is a PDF, which can't be read here. Copy its text and paste that.`);
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes).replaceAll("\r\n", "\n").trimEnd();
    if (text.includes("\0")) throw refusal("");
    if (text.trim() === "") throw refusal(`${file.name} is empty.`);
    if (EXPORT.test(text)) {
      throw refusal(`${file.name} has chats that Chorus exported. Import it in the settings for all panes.`);
    }
    return text;
  } catch (error) {
    if (error instanceof ChorusError && error.message !== "") throw error;
    throw refusal(`${file.name} is not a text file (in UTF-8).`);
  }
}

/** Returns the beginning of a text that the context has room for, beside the draft and the longest answer. */
async function fitting(
  text: string,
  pane: Pane,
  engine: { readonly model: { readonly contextLength: number }; readonly tokenize: Tokenize },
  settings: Parameters<typeof reservedTokens>[0],
): Promise<string> {
  const { contextLength } = engine.model;
  const tokenize: Tokenize = (body) => engine.tokenize(body);
  const draftTokens = await tokensOf(pane.store.getState().draft.trim(), tokenize);
  const room = contextLength - (reservedTokens(settings, engine.model) ?? 0) - draftTokens - TEMPLATE_TOKENS;
  if (room < FEWEST_TOKENS)
    throw refusal(`The model reads ${contextLength} tokens in all: there is no room for a file.`);
  let part = text.slice(0, room * LONGEST_TOKEN);
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- each cut is counted
    const count = await tokensOf(part, tokenize);
    if (count <= room) return part;
    part = part.slice(0, Math.floor(((part.length * room) / count) * CAUTION));
  }
}

/** Within a fence that is longer than those in the text. */
function fenced(text: string, name: string): string {
  const [, language = ""] = /\.(\w+)$/.exec(name) ?? [];
  const longest = [...text.matchAll(/`+/g)].reduce((most, [ticks]) => Math.max(most, ticks.length), 2);
  const fence = "`".repeat(longest + 1);
  return `${fence}${language === "txt" ? "" : language}\n${text}\n${fence}`;
}
