// npm run demo: shows the app without a desktop or a GPU. Four panes of a headless Chromium are asked at once. Their answers
// and the batch's figures stream to the terminal, and a picture of the page is saved.

import { addOptions, openCommand } from "./command-line.mjs";
import { createDemoView } from "./demo-view.mjs";

const QUESTIONS = [
  "Tell me a story about a fox.",
  "How do I cook rice?",
  "Tell me a story about a robot.",
  "Write a poem about the sea.",
];
const LONGEST_MS = 120_000;
const REFRESH_MS = 200;

const command = await openCommand(
  "npm run demo --",
  "Asks four panes at once in a browser without a window, and shows the answers here.",
);
await addOptions(command, [
  { flags: "--out <file>", about: "where the page's picture goes", defaultText: "demo.png" },
  { flags: "--backend <name>", about: "what computes", defaultText: "auto", choices: ["auto", "webgpu", "cpu"] },
]);
const { out = "demo.png", backend = "auto" } = command.parse().opts();
// At a signal Playwright only closes its browser, and the demo would go on with the next part.
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, (_, number) => process.exit(128 + number));
const { ensureChromium, tryChromium } = await import("./browsers/find-chromium.mjs");
const { launchChromium } = await import("./launch-chromium.mjs");
const { buildAndServe } = await import("./serve-app.mjs");

const executablePath = await ensureChromium();
// The machine's GPU where Chromium finds one, else the CPU.
const real = await tryChromium(executablePath, "real").catch(() => null);
const isOnGpu = backend === "webgpu" || (backend === "auto" && real !== null);
console.log(`On ${isOnGpu ? (real?.adapter ?? "the software adapter") : "the CPU"}.`);

const server = await buildAndServe(4173);
const browser = await launchChromium(executablePath, { on: real === null ? "software" : "real" });
try {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.goto(`${server.url}?backend=${backend}`);
  const panes = QUESTIONS.map((_, index) => page.getByRole("region", { name: `Pane ${index + 1}`, exact: true }));
  for (const [index, pane] of panes.entries()) {
    if (index > 0) await page.getByRole("button", { name: "Add pane" }).click();
    await pane.getByRole("textbox", { name: "Message" }).fill(QUESTIONS[index] ?? "");
  }
  for (const pane of panes) await pane.getByRole("button", { name: "Send" }).click();

  const view = createDemoView(QUESTIONS);
  const deadlineMs = Date.now() + LONGEST_MS;
  let hasPicture = false;
  for (;;) {
    const now = await page.evaluate(readPage);
    view.show(now);
    const numEnded = now.answers.filter(({ end }) => end).length;
    const isOver = numEnded === panes.length || Date.now() > deadlineMs;
    // The best moment: one answer is complete, the others still grow.
    if (!hasPicture && (numEnded > 0 || isOver)) {
      await page.screenshot({ path: out });
      hasPicture = true;
    }
    if (!isOver) {
      await page.waitForTimeout(REFRESH_MS);
      continue;
    }
    console.log(`The page is in ${out}.`);
    if (numEnded < panes.length) throw new Error(`Only ${numEnded} of ${panes.length} answers ended in time.`);
    break;
  }
} finally {
  await browser.close();
  await server.close();
}

/** Runs in the page. */
function readPage() {
  const textOf = (/** @type {ParentNode | undefined} */ within, /** @type {string} */ selector) => {
    const element = within?.querySelector(selector);
    return element instanceof HTMLElement ? element.innerText : "";
  };
  const answers = [...document.querySelectorAll('[aria-label^="Pane "] [role="log"]')].map((log) => {
    const turn = [...log.querySelectorAll("article")].at(-1);
    return { text: textOf(turn, "[data-answer]"), end: textOf(turn, ":scope > footer > p") };
  });
  const figures = [...document.querySelectorAll('[aria-label="Batch"] dl > *')].map((figure) => [
    textOf(figure, "dt"),
    textOf(figure, "dd"),
  ]);
  return { answers, figures: Object.fromEntries(figures) };
}
