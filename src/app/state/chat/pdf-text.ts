// The text of PDFs. Loaded with the first one.

import {
  getDocument,
  GlobalWorkerOptions,
  InvalidPDFException,
  PDFWorker,
  type PDFDocumentLoadingTask,
  type PDFPageProxy,
} from "pdfjs-dist";
import { withinTime } from "../../within-time.ts";

/** Addresses of its worker, and of how Chinese, Japanese and Korean fonts that are not in their file number characters. */
const FILES = import.meta.glob<string>("/node_modules/pdfjs-dist/{build/pdf.worker.min.mjs,cmaps/*.bcmap}", {
  query: "?url&no-inline",
  import: "default",
  eager: true,
});
const addressOf = (path: string) => FILES[`/node_modules/pdfjs-dist/${path}`] ?? "";

GlobalWorkerOptions.workerSrc = addressOf("build/pdf.worker.min.mjs");

class CharacterMaps {
  async fetch({ filename }: { filename: string }): Promise<Uint8Array> {
    const response = await fetch(addressOf(`cmaps/${filename}`));
    return new Uint8Array(await response.arrayBuffer());
  }
}

type TextContent = Awaited<ReturnType<PDFPageProxy["getTextContent"]>>;

/** A page that never ends must not hold the worker for ever. */
const MAX_READING_MS = 60_000;

/** Returns why a PDF could not be read, as half a sentence. */
export function reasonOf(error: unknown): string {
  if (error instanceof Error && error.name === "PasswordException") return "it is encrypted";
  if (error instanceof InvalidPDFException) return "it is damaged";
  const message = error instanceof Error ? error.message : String(error);
  return /fake worker/i.test(message) ? "its reader can't be loaded now" : message;
}

/** Returns the text of a PDF, page by page; more than `maxLength` characters if there are more. @throws what `reasonOf` explains */
export async function pdfText(data: ArrayBuffer, maxLength: number): Promise<string> {
  // Its own, which is ended without its consent: it may be busy for ever.
  const worker = new PDFWorker();
  const task = getDocument({
    data,
    worker,
    isEvalSupported: false,
    disableFontFace: true,
    useWorkerFetch: false,
    BinaryDataFactory: CharacterMaps,
    verbosity: 0,
  });
  try {
    const late = () => new Error("it takes more than a minute");
    return await withinTime(textOf(task, maxLength), MAX_READING_MS, late);
  } finally {
    worker.destroy();
  }
}

async function textOf(task: PDFDocumentLoadingTask, maxLength: number): Promise<string> {
  const document = await task.promise;
  let text = "";
  for (let number = 1; number <= document.numPages && text.length <= maxLength; number++) {
    // oxlint-disable-next-line no-await-in-loop -- the pages follow one another
    const page = await document.getPage(number);
    const reader = page.streamTextContent().getReader() as ReadableStreamDefaultReader<TextContent>;
    let words = "";
    while (text.length + words.length <= maxLength) {
      // oxlint-disable-next-line no-await-in-loop -- as above
      const { value } = await reader.read();
      if (!value) break;
      for (const item of value.items) if ("str" in item) words += `${item.str}${item.hasEOL ? "\n" : ""}`;
    }
    text = `${text}\n\n${words.trim()}`.trim();
    page.cleanup();
  }
  return text;
}
