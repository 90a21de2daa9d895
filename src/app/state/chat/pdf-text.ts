// The text of PDFs. Loaded with the first one.

import { getDocument, GlobalWorkerOptions, InvalidPDFException, type PDFDocumentLoadingTask } from "pdfjs-dist";

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
  const task = getDocument({
    data,
    isEvalSupported: false,
    disableFontFace: true,
    useWorkerFetch: false,
    BinaryDataFactory: CharacterMaps,
    verbosity: 0,
  });
  let timer = 0;
  const tooLong = new Promise<never>((_, reject) => {
    timer = window.setTimeout(() => reject(new Error("it takes more than a minute")), MAX_READING_MS);
  });
  try {
    return await Promise.race([textOf(task, maxLength), tooLong]);
  } finally {
    clearTimeout(timer);
    void task.destroy();
  }
}

async function textOf(task: PDFDocumentLoadingTask, maxLength: number): Promise<string> {
  const document = await task.promise;
  let text = "";
  for (let number = 1; number <= document.numPages && text.length <= maxLength; number++) {
    // oxlint-disable-next-line no-await-in-loop -- the pages follow one another
    const page = await document.getPage(number);
    // oxlint-disable-next-line no-await-in-loop -- as above
    const { items } = await page.getTextContent();
    const words = items.map((item) => ("str" in item ? `${item.str}${item.hasEOL ? "\n" : ""}` : ""));
    text = `${text}\n\n${words.join("").trim()}`.trim();
    page.cleanup();
  }
  return text;
}
