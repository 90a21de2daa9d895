// An engine in its own browser page: the interface of the modules in engines/, and how it is called from here.

import type { Browser } from "playwright";

import { askAdapter, within } from "../../tools/time-limits.mjs";

export interface Prompt {
  readonly text: string;
  readonly ids: readonly number[];
}

export type Way = "at once" | "padded batch";

export interface Answer {
  /** When the first prompt was sent, on the page's clock. */
  readonly startMs: number;
  /** The time of each arrival, and the number of tokens until then. */
  readonly arrivals: { atMs: number; tokens: number }[];
  /** Empty if not requested and slow to get. */
  readonly tokenIds: number[];
}

interface GenerateRequest {
  readonly prompts: readonly Prompt[];
  readonly maxTokens: number;
  readonly way: Way;
  /** Whether token ids are needed; the times then mean nothing. */
  readonly withTokenIds: boolean;
}

/** Greedy, to the full length, whatever ends a text. Answers are in the order of the prompts. */
export type Generate = (request: GenerateRequest) => Promise<Answer[]>;

export interface EngineDescription {
  /** A module of engines/, without its ending. */
  readonly module: string;
  readonly config: object;
}

interface EngineModule {
  load(options: { config: object }): Promise<{ threads: number | null }>;
  generate: Generate;
}

declare global {
  interface Window {
    engineOfThisPage: Promise<EngineModule>;
  }
}

const MEMORY_MS = 60_000;
const CLOSE_MS = 30_000;

export type EnginePage = Awaited<ReturnType<typeof openEnginePage>>;

/** @throws Error with the engine's message, or if it took longer than `timeoutMs` */
export async function openEnginePage(
  browser: Browser,
  baseUrl: string,
  { module, config }: EngineDescription,
  timeoutMs: number,
) {
  const page = await browser.newPage();
  // A page that hangs may never close.
  const close = () => within(page.close(), CLOSE_MS, "it did not close").catch(() => undefined);
  try {
    const startMs = performance.now();
    await page.goto(new URL(`engines/page.html?${module}`, baseUrl).href);
    const loading = page.evaluate(
      async (given) => (await globalThis.window.engineOfThisPage).load({ config: given }),
      config,
    );
    /** On the CPU; null if it computes elsewhere. */
    const { threads } = await within(loading, timeoutMs, "it did not load");
    return {
      threads,
      /** From opening the page to readiness: code and model are read over loopback, nothing is cached. */
      loadMs: performance.now() - startMs,
      close,
      /** @throws Error with the engine's message, or if it took longer than `limitMs`; the page is useless then */
      async generate(request: GenerateRequest, limitMs: number): Promise<Answer[]> {
        const ask = async (given: GenerateRequest) => (await globalThis.window.engineOfThisPage).generate(given);
        // Browsers never slow down the page in front.
        const answered = page.bringToFront().then(() => page.evaluate(ask, request));
        return within(answered, limitMs, "no answer");
      },
      /** Returns the bytes that the page and its workers hold; null where the browser does not say in time. */
      async memoryBytes(): Promise<number | null> {
        const measure = () =>
          (performance as unknown as { measureUserAgentSpecificMemory(): Promise<{ bytes: number }> })
            .measureUserAgentSpecificMemory()
            .then(({ bytes }) => bytes);
        return within(page.evaluate(measure), MEMORY_MS, "no memory").catch(() => null);
      },
      async describeAdapter(): Promise<string> {
        const info = await askAdapter(page);
        return [info?.vendor, info?.architecture, info?.device, info?.description].filter(Boolean).join(" ");
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}
