import { afterEach, expect, it, vi } from "vitest";

const reader = { pages: [] as string[][], hangs: false, numRead: 0, numEnded: 0 };
// PDF.js wants a browser.
vi.doMock("pdfjs-dist", () => ({
  GlobalWorkerOptions: {},
  InvalidPDFException: class extends Error {},
  PDFWorker: class {
    destroy() {
      reader.numEnded++;
    }
  },
  getDocument: () => ({
    promise: reader.hangs
      ? new Promise(() => {})
      : Promise.resolve({
          numPages: reader.pages.length,
          getPage: async (number: number) => ({
            cleanup() {},
            streamTextContent: () =>
              new ReadableStream({
                start(controller) {
                  for (const str of reader.pages[number - 1] ?? [])
                    controller.enqueue({ items: [{ str, hasEOL: false }] });
                  controller.close();
                },
              }).pipeThrough(
                new TransformStream(
                  {
                    transform(part, controller) {
                      reader.numRead++;
                      controller.enqueue(part);
                    },
                  },
                  undefined,
                  { highWaterMark: 0 },
                ),
              ),
          }),
        }),
  }),
}));
const { pdfText, reasonOf } = await import("./pdf-text.ts");
vi.doUnmock("pdfjs-dist");

afterEach(() => {
  vi.useRealTimers();
  Object.assign(reader, { pages: [], hangs: false, numRead: 0, numEnded: 0 });
});

it("a PDF that never ends is given up after a minute, with the worker that it holds", async () => {
  vi.useFakeTimers();
  reader.hangs = true;
  const text = pdfText(new ArrayBuffer(0), 100).catch(reasonOf);
  await vi.advanceTimersByTimeAsync(59_999);
  expect(reader.numEnded).toBe(0);
  await vi.advanceTimersByTimeAsync(1);
  expect(reader.numEnded).toBe(1);
  expect(await text).toBe("it takes more than a minute");
});

it("a PDF is read no further than the longest text, also within a page, and its worker ends", async () => {
  reader.pages = [["first"], Array.from({ length: 100 }, () => "0123456789"), ["never"]];
  const text = await pdfText(new ArrayBuffer(0), 30);
  expect(text).toBe(`first\n\n${"0123456789".repeat(3)}`);
  expect(reader.numRead).toBeLessThan(10);
  expect(reader.numEnded).toBe(1);
});
