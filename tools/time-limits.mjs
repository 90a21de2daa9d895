// Nothing here waits for ever, and whoever waits too long hears for what.

/** For an adapter: drivers that never answer have been seen. */
const ADAPTER_MS = 60_000;

/**
 * Settles as the work does, or rejects after `limitMs`, naming what was waited for.
 *
 * @template Result
 * @param {Promise<Result>} work
 * @param {number} limitMs
 * @param {string} what did not come: "no answer"
 * @returns {Promise<Result>}
 */
export async function within(work, limitMs, what) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  /** @type {Promise<never>} */
  const timeout = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} within ${limitMs / 1000} s`)), limitMs);
  });
  // Whichever is late rejects into nothing.
  work.catch(() => undefined);
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Asks a page's browser for a WebGPU adapter.
 *
 * @param {{ evaluate(ask: () => Promise<AdapterInfo | null>): Promise<AdapterInfo | null> }} page of Playwright or Puppeteer
 * @param {number} [limitMs]
 * @returns {Promise<AdapterInfo | null>} null where it has none
 *
 * @typedef {{ vendor: string, architecture: string, device: string, description: string, isFallbackAdapter: boolean }} AdapterInfo
 */
export function askAdapter(page, limitMs = ADAPTER_MS) {
  const requested = page.evaluate(async () => {
    const info = (await navigator.gpu?.requestAdapter())?.info;
    if (!info) return null;
    const { vendor, architecture, device, description, isFallbackAdapter } = info;
    return { vendor, architecture, device, description, isFallbackAdapter };
  });
  return within(requested, limitMs, "it did not answer when it was asked for a WebGPU adapter");
}

/** Ends a process, by force if it does not end by itself within `limitMs`. */
export async function endProcess(/** @type {import("node:child_process").ChildProcess} */ child, limitMs = 60_000) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), limitMs);
  await ended;
  clearTimeout(timer);
}
