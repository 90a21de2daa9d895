// npm run screenshots: makes the pictures in docs/ with the built app and its model: still ones of every view, and one that
// moves, of four chats that stream.

import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { openCommand } from "./command-line.mjs";
import { root } from "./run-command.mjs";

const QUESTIONS = [
  "Tell me a story about a fox.",
  "Write a poem about the sea.",
  "How do I cook rice?",
  "Tell me a story about a robot.",
];
const SIZES = [
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
];
/** Patience for a machine without a GPU. */
const LONGEST_MS = 300_000;

/** @typedef {import("playwright").Page} Page */

/** @type {Record<string, { query?: string, prepare: (page: Page) => Promise<void> }>} */
const VIEWS = {
  empty: { prepare: isReady },
  workspace: {
    // Even an adapter that emulates a GPU: its steps last long enough for the four to meet.
    query: "backend=webgpu&seed=8&max_tokens=120",
    prepare: async (page) => {
      await askAll(page);
      // Some lines in each pane: the batch is at work.
      await page.waitForFunction(
        () => {
          const answers = [...document.querySelectorAll('[role="log"] article')];
          return answers.length === 4 && answers.every(({ textContent }) => (textContent ?? "").length > 120);
        },
        undefined,
        { timeout: LONGEST_MS },
      );
    },
  },
  demo: {
    query: "max_tokens=40",
    prepare: async (page) => {
      await page.getByRole("link", { name: "Demo", exact: true }).click();
      await page.getByText(/^[\d.]+×$/).waitFor({ timeout: LONGEST_MS });
    },
  },
  palette: {
    prepare: async (page) => {
      await isReady(page);
      await page.keyboard.press("Control+k");
    },
  },
  settings: {
    prepare: async (page) => {
      await isReady(page);
      await page.getByRole("button", { name: "Settings for all panes" }).click();
    },
  },
  bench: {
    query: "#/bench",
    prepare: (page) => page.getByRole("button", { name: /^Measure/ }).waitFor(),
  },
};

/** The moving picture. */
const MOVING = "moving";
const MOVING_SIZE = { width: 1280, height: 800 };
/** Between two questions, so that the timeline shows who joins. */
const NEXT_QUESTION_MS = 400;

const command = await openCommand(
  "npm run screenshots --",
  "Makes the pictures in docs/ with the built app. CHORUS_ADAPTER=real takes the machine's GPU.",
);
const { Argument } = await import("commander");
command
  .addArgument(new Argument("[views...]", "which; all, if none is named").choices([...Object.keys(VIEWS), MOVING]))
  .parse();
const named = command.args;

const { ensureChromium } = await import("./browsers/find-chromium.mjs");
const { launchChromium } = await import("./launch-chromium.mjs");
const { buildAndServe } = await import("./serve-app.mjs");
const { recordFrames, writeMovingPicture } = await import("./moving-picture.mjs");

const executablePath = await ensureChromium();
const server = await buildAndServe(4183);
const browser = await launchChromium(executablePath);
const folder = join(root, "docs");
mkdirSync(folder, { recursive: true });
try {
  for (const [name, { query = "", prepare }] of Object.entries(VIEWS)) {
    if (!isRequested(name)) continue;
    for (const viewport of SIZES) {
      const { context, page } = await openApp(query, viewport, "light");
      // No caret blinks.
      await page.emulateMedia({ reducedMotion: "reduce" });
      await prepare(page);
      for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        // The theme's colours fade, and canvases are redrawn.
        await page.waitForTimeout(400);
        const path = join(folder, `${name}-${viewport.width}-${colorScheme}.png`);
        await page.screenshot({ path, animations: "disabled" });
        console.log(path);
      }
      await context.close();
    }
  }
  for (const colorScheme of isRequested(MOVING) ? /** @type {const} */ (["light", "dark"]) : []) {
    const { context, page } = await openApp(VIEWS.workspace?.query ?? "", MOVING_SIZE, colorScheme);
    await writeQuestions(page);
    const frames = await recordFrames(page, async () => {
      await sendInTurn(page);
      // While a pane is busy it has a button "Stop" instead.
      const send = page.getByRole("main").getByRole("button", { name: "Send", exact: true });
      for (const index of QUESTIONS.keys()) await send.nth(index).waitFor();
    });
    const path = join(folder, `moving-${MOVING_SIZE.width}-${colorScheme}.webp`);
    await writeMovingPicture(path, frames);
    console.log(`${path}: ${frames.length} frames`);
    await context.close();
  }
} finally {
  await browser.close();
  await server.close();
}

function isRequested(/** @type {string} */ name) {
  return named.length === 0 || named.includes(name);
}

/**
 * Opens the app in a folder of its own: nothing is remembered from the one before.
 *
 * @param {string} query
 * @param {{ width: number, height: number }} viewport
 * @param {"light" | "dark"} colorScheme
 */
async function openApp(query, viewport, colorScheme) {
  const context = await browser.newContext({ viewport, colorScheme });
  const page = await context.newPage();
  page.setDefaultTimeout(LONGEST_MS);
  await page.goto(`${server.url}${query && !query.startsWith("#") ? "?" : ""}${query}`);
  await page.getByRole("heading", { level: 1 }).waitFor({ state: "attached" }); // phones have no room for it
  return { context, page };
}

/** The model has been loaded: the first pane no longer shows how far it is. */
async function isReady(/** @type {Page} */ page) {
  await page.getByRole("heading", { name: /^Getting .* ready$/ }).waitFor({ state: "hidden" });
}

/** Opens panes until there are four and asks each its question. */
async function askAll(/** @type {Page} */ page) {
  await writeQuestions(page);
  for (const index of QUESTIONS.keys()) {
    // On a phone only the current pane is there; after the last comes the first.
    await page.keyboard.press("Alt+ArrowDown");
    await messageBox(page, index).press("Enter");
  }
}

async function writeQuestions(/** @type {Page} */ page) {
  for (const [index, question] of QUESTIONS.entries()) {
    if (index > 0) await page.keyboard.press("Alt+n");
    await messageBox(page, index).fill(question);
  }
  await isReady(page);
}

/** Clicks on every pane's "Send", by the page's own clock: while a page is recorded, each command to it takes long. */
async function sendInTurn(/** @type {Page} */ page) {
  await page.evaluate(async (everyMs) => {
    const buttons = [...document.querySelectorAll("main button")].filter(({ textContent }) => textContent === "Send");
    for (const button of buttons) {
      if (button instanceof HTMLElement) button.click();
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    }
  }, NEXT_QUESTION_MS);
}

function messageBox(/** @type {Page} */ page, /** @type {number} */ index) {
  const pane = page.getByRole("region", { name: `Pane ${index + 1}`, exact: true });
  return pane.getByRole("textbox", { name: "Message" });
}
