// npm run demo: the app at work, without a desktop or a GPU. Four panes of a headless Chromium are asked at once; their
// answers and the batch's figures come to the terminal as they grow, and a picture of the page to demo.png (--out).

import "./require-node.mjs";

import { parseArgs } from "node:util";

import { createDemoView } from "./demo-view.mjs";
import { setUp } from "./setup.mjs";

const QUESTIONS = [
  "Tell me a story about a fox.",
  "How do I cook rice?",
  "Tell me a story about a robot.",
  "Write a poem about the sea.",
];
const LONGEST_MS = 120_000;
const REFRESH_MS = 200;

const { out } = parseArgs({ options: { out: { type: "string", default: "demo.png" } } }).values;

await setUp();
const { ensureChromium } = await import("./install-chromium.mjs");
const { tryChromium } = await import("./find-chromium.mjs");
const { chromiumFlags } = await import("./chromium-flags.mjs");
const { buildAndServe } = await import("./serve-app.mjs");
const { chromium } = await import("playwright");

const executablePath = await ensureChromium();
const real = await tryChromium(executablePath, "real");
const flags = chromiumFlags("failure" in real ? "software" : "real");

const server = await buildAndServe(4173);
const browser = await chromium.launch({ executablePath, args: flags });
try {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.goto(server.url);
  const pane = (/** @type {number} */ number) => page.getByRole("region", { name: `Pane ${number}`, exact: true });
  for (const [index, question] of QUESTIONS.entries()) {
    if (index > 0) await page.getByRole("button", { name: "Add pane" }).click();
    await pane(index + 1)
      .getByRole("textbox", { name: "Message" })
      .fill(question);
  }
  for (const index of QUESTIONS.keys())
    await pane(index + 1)
      .getByRole("button", { name: "Send" })
      .click();

  const view = createDemoView(QUESTIONS);
  const deadlineMs = Date.now() + LONGEST_MS;
  let hasPicture = false;
  for (;;) {
    const now = await page.evaluate(readPage);
    view.show(now);
    const numDone = now.answers.filter(({ end }) => end).length;
    const isOver = numDone === QUESTIONS.length || Date.now() > deadlineMs;
    // The best moment: one answer has its last line, the others still grow.
    if (!hasPicture && (numDone > 0 || isOver)) {
      await page.screenshot({ path: out });
      hasPicture = true;
    }
    if (isOver) break;
    await page.waitForTimeout(REFRESH_MS);
  }
} finally {
  await browser.close();
  await server.close();
}

/** Runs in the page. */
function readPage() {
  const textOf = (/** @type {Element | null | undefined} */ element) => element?.textContent?.trim() ?? "";
  const answers = [...document.querySelectorAll('[aria-label^="Pane "] [role="log"]')].map((log) => {
    const turn = [...log.querySelectorAll("article")].at(-1);
    return {
      text: textOf(turn?.querySelector(":scope > div")),
      end: textOf(turn?.querySelector(":scope > p:last-child")),
    };
  });
  const labels = [...document.querySelectorAll('[aria-label="Batch"] dt')];
  const figures = Object.fromEntries(labels.map((label) => [textOf(label), textOf(label.nextElementSibling)]));
  return { answers, figures };
}
