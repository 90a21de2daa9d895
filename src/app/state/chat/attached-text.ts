// Files that are dropped or pasted into a chat: their text goes into the question.

import { importWithRetry } from "../../import-with-retry.ts";
import { ChorusError } from "../../../index.ts";
import { fenced } from "../fenced.ts";
import { reservedTokens } from "../settings/question-settings.ts";
import { tokensOf, type Tokenize } from "./context-cut.ts";
import type { Pane } from "./pane.ts";

/** A book has about a megabyte. */
const MAX_BYTES = 4 * 2 ** 20;
/** It may have pictures. */
const MAX_PDF_BYTES = 64 * 2 ** 20;
/** For what a template writes around the question. [tokens] */
const TEMPLATE_TOKENS = 40;
/** Fewer would say nothing of a file. [tokens] */
const FEWEST_TOKENS = 20;
/** No token stands for more, but for long runs of spaces. */
const LONGEST_TOKEN = 16;
/** Each cut leaves a little less than was counted: tokens are not equally long. */
const CAUTION = 0.95;

const refusal = (message: string) => new ChorusError("invalid_value", message, "file");

/** Returns whether a file has chats that Chorus exported. */
export async function isExport(file: Blob): Promise<boolean> {
  return /^\{\s*"app":\s*"chorus"/.test(await file.slice(0, 100).text());
}

/**
 * Puts the text of a file, which may be a PDF, behind a pane's draft. What the model's context has no room for is cut, and the
 * draft says so; a server's context is not known. Resolves with the number of tokens, null for a server, and with what is left of
 * a text that was cut.
 * @throws ChorusError if it is no text, or too large
 */
export async function attachText(
  pane: Pane,
  file: File,
): Promise<{ readonly numTokens: number | null; readonly cut: string | null }> {
  const text = await readText(file);
  const { engine, isRemote, settings } = pane.asking.getState();
  if (engine === null && !isRemote) throw refusal(`The model is not ready yet. Drop ${file.name} again when it is.`);
  const { part, numTokens } =
    engine === null || isRemote ? { part: text, numTokens: null } : await fitting(text, pane, engine, settings);
  const [left, all] = [part, text].map(({ length }) => length.toLocaleString("en"));
  const cut = part.length < text.length ? `the first ${left} of ${all} characters` : null;
  const remark = cut === null ? "" : `\n(The model has room for ${cut} of ${file.name}.)`;
  const { draft } = pane.store.getState();
  const [, ending = ""] = /\.(\w+)$/.exec(file.name) ?? [];
  const language = ["txt", "pdf"].includes(ending) ? "" : ending;
  const before = draft.trim() === "" ? "" : `${draft.trimEnd()}\n\n`;
  pane.setDraft(`${before}${file.name}:\n${fenced(part, language)}${remark}\n\n`);
  return { numTokens, cut };
}

async function readText(file: File): Promise<string> {
  const isPdf = (await file.slice(0, 5).text()) === "%PDF-";
  const [most, what] = isPdf ? [MAX_PDF_BYTES, "a PDF"] : [MAX_BYTES, "text"];
  if (file.size > most) {
    throw refusal(
      `${file.name} has ${Math.ceil(file.size / 2 ** 20)} MB; at most ${most / 2 ** 20} MB of ${what} are read.`,
    );
  }
  const bytes = await file.arrayBuffer();
  if (isPdf) return readPdf(file.name, bytes);
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes).replaceAll("\r\n", "\n").trimEnd();
    if (text.includes("\0")) throw refusal("");
    if (text.trim() === "") throw refusal(`${file.name} is empty.`);
    return text;
  } catch (error) {
    if (error instanceof ChorusError && error.message !== "") throw error;
    throw refusal(`${file.name} is not a text file (in UTF-8).`);
  }
}

async function readPdf(name: string, bytes: ArrayBuffer): Promise<string> {
  const library = await importWithRetry(() => import("./pdf-text.ts")).catch(() => null);
  if (library === null) {
    throw refusal(`What reads PDFs is loaded with the first one. Drop ${name} again when this page is online.`);
  }
  const text = await library.pdfText(bytes, MAX_BYTES).catch((error: unknown) => {
    throw refusal(`${name} can't be read: ${library.reasonOf(error)}.`);
  });
  if (text === "") throw refusal(`${name} has no text: its pages are pictures.`);
  if (text.length > MAX_BYTES)
    throw refusal(`${name} has more than ${MAX_BYTES / 2 ** 20} MB of text, which is too much.`);
  return text;
}

/** Returns the beginning of a text that the context has room for, beside the draft and the longest answer. */
async function fitting(
  text: string,
  pane: Pane,
  engine: { readonly model: { readonly contextLength: number }; readonly tokenize: Tokenize },
  settings: Parameters<typeof reservedTokens>[0],
): Promise<{ readonly part: string; readonly numTokens: number }> {
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
    if (count <= room) return { part, numTokens: count };
    part = part.slice(0, Math.floor(((part.length * room) / count) * CAUTION));
  }
}
