// npm run bench -- soak --minutes N: a long day, compressed. Random load of every kind on real engines in a page, whose GPU
// process is killed, which is frozen, and whose engine changes. Fails for a wrong answer, for leftover blocks or sequences, and
// for memory that grows by more than 5%. With --app it is the walk of e2e/support/walk.ts, for as long.

import { setTimeout } from "node:timers/promises";
import type { Page } from "playwright";

import { servePage } from "../../tools/serve-page.mjs";
import { launchChromium } from "../../tools/launch-chromium.mjs";
import { ensureChromium } from "../../tools/browsers/find-chromium.mjs";
import { ensureFirefox } from "../../tools/browsers/find-firefox.mjs";
import type { soak } from "../soak/soak.ts";
import type { OptionsOf } from "./bench-parts.ts";
import { startHeapMeter } from "./heap-meter.ts";
import { gpuProcessId, killGpuProcess, residentBytes } from "./gpu-process.ts";
import { run as runCommand } from "../../tools/run-command.mjs";
import { within } from "../../tools/time-limits.mjs";

const HIDDEN_MS = 2000;
const MAX_GROWTH = 0.05;
// A round takes 20 seconds and comes to rest within 60.
const MAX_OVERTIME_MS = 300_000;

type Report = Awaited<ReturnType<typeof soak>>;

/** Prints the results. Returns whether nothing has grown. */
export async function run({ minutes = "10", seed = "1", app = false, browser: walked }: OptionsOf<"soak">) {
  const isInFirefox = walked === "firefox";
  if (isInFirefox && !app) throw new Error("Only the walk runs in Firefox: add --app.");
  // Without one the tier would skip the walk, and succeed.
  if (isInFirefox && !(await ensureFirefox())) return false;
  if (app) {
    const env = { CHORUS_WALK_MINUTES: minutes, CHORUS_WALK_SEED: seed };
    return runCommand(`npm run test:${isInFirefox ? "firefox" : "e2e"} -- e2e/walk`, { env });
  }
  const executablePath = await ensureChromium();
  const server = await servePage("lab/soak/soak.html", { hasWorkers: true });
  // Chromium gives up the GPU after some crashes of its process.
  const args = ["--disable-gpu-process-crash-limit", "--disable-domain-blocking-for-3d-apis"];
  const browser = await launchChromium(executablePath, { args, minutes: Number(minutes) + 30 });
  try {
    const page = await browser.newPage();
    page.on("console", (message) => console.log(message.text()));
    await page.exposeFunction("loseDevice", async () => (await killGpuProcess(browser)) !== null);
    await page.exposeFunction("hide", () => freeze(page));
    await page.goto(server.url);
    const meter = await startHeapMeter(page);
    await page.exposeFunction("memory", async () => {
      const { heapBytes, domBytes, bufferBytes } = await meter.settled();
      const gpuBytes = residentBytes(await gpuProcessId(browser));
      return { "page and workers": heapBytes + domBytes + bufferBytes, ...(gpuBytes && { "GPU process": gpuBytes }) };
    });
    const options = { ms: Number(minutes) * 60_000, seed: Number(seed) };
    const ran = page.evaluate(
      (given) => (globalThis as unknown as { run(options: object): Promise<Report> }).run(given),
      options,
    );
    const { memory, growth, ...counts } = await within(
      ran,
      options.ms + MAX_OVERTIME_MS,
      "The soak hangs: its last round does not end",
    );
    console.log(`Soak: ${minutes} minutes, seed ${seed}`);
    for (const [name, value] of Object.entries(counts)) console.log(`  ${name.padEnd(28)} ${value}`);
    for (const [name, samples] of Object.entries(memory)) {
      const mib = samples.map((bytes) => (bytes / 2 ** 20).toFixed(1));
      const grown =
        growth[name] === undefined
          ? ": too few rounds to see growth"
          : `, ${(100 * growth[name]).toFixed(1)}% since the first two`;
      console.log(`  ${name.padEnd(28)} ${mib.join(", ")} MiB${grown}`);
    }
    const tooMuch = Object.entries(growth).filter(([, share]) => share > MAX_GROWTH);
    for (const [name] of tooMuch) console.error(`${name} has grown by more than ${100 * MAX_GROWTH}%.`);
    return tooMuch.length === 0;
  } finally {
    await browser.close();
    await server.close();
  }
}

/** Freezes the page, as the browser does with a tab in the background. */
async function freeze(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send("Page.setWebLifecycleState", { state: "frozen" });
  await setTimeout(HIDDEN_MS);
  await session.send("Page.setWebLifecycleState", { state: "active" });
  await session.detach();
}
