// npm run screenshots: makes the pictures in docs/ with the built app and its model: still ones, and one that moves, of four
// chats that stream.

import { join } from "node:path";

import { openCommand } from "./command-line.mjs";
import { root } from "./run-command.mjs";

const QUESTIONS = [
  "Tell me a story about a fox.",
  "Write a poem about the sea.",
  "How do I cook rice?",
  "Tell me a story about a robot.",
];
/** Patience for a machine without a GPU. */
const LONGEST_MS = 300_000;
/** Even an adapter that emulates a GPU: its steps last long enough for the four to meet. */
const STREAMING = "backend=webgpu&seed=8&max_tokens=120";
/** Between two questions, so that the timeline shows who joins. */
const NEXT_QUESTION_MS = 400;

/** @typedef {import("playwright").Page} Page */
/** @typedef {"light" | "dark"} Theme */

/** @typedef {{ query: string, size: readonly [width: number, height: number], themes: readonly Theme[], show: (page: Page) => Promise<void> }} Picture */

/** Each by its name in docs/: `show` brings the app to it. @type {Record<string, Picture>} */
const PICTURES = {
  workspace: {
    query: STREAMING,
    size: [1440, 900],
    themes: ["light", "dark"],
    async show(page) {
      await writeQuestions(page);
      for (const index of QUESTIONS.keys()) await messageBox(page, index).press("Enter");
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
    size: [1440, 900],
    themes: ["light"],
    async show(page) {
      await page.getByRole("link", { name: "Demo", exact: true }).click();
      await page.getByText(/^[\d.]+×$/).waitFor({ timeout: LONGEST_MS });
    },
  },
  chat: { query: "max_tokens=120", size: [1280, 720], themes: ["light"], show: askOne },
  phone: { query: "max_tokens=120", size: [390, 844], themes: ["light"], show: askOne },
};

const command = await openCommand(
  "npm run screenshots --",
  "Makes the pictures in docs/ with the built app. CHORUS_ADAPTER=real takes the machine's GPU.",
);
const { Argument } = await import("commander");
command
  .addArgument(
    new Argument("[pictures...]", "which; all, if none is named").choices([...Object.keys(PICTURES), "moving"]),
  )
  .parse();
const isRequested = (/** @type {string} */ name) => command.args.length === 0 || command.args.includes(name);

const { ensureChromium } = await import("./browsers/find-chromium.mjs");
const { launchChromium } = await import("./launch-chromium.mjs");
const { buildAndServe } = await import("./serve-app.mjs");
const { recordFrames, writeMovingPicture } = await import("./moving-picture.mjs");

const executablePath = await ensureChromium();
const server = await buildAndServe(4183);
const browser = await launchChromium(executablePath);
try {
  for (const [name, { query, size, themes, show }] of Object.entries(PICTURES)) {
    if (!isRequested(name)) continue;
    const viewport = { width: size[0], height: size[1] };
    const { context, page } = await openApp(query, viewport, "light");
    // No caret blinks.
    await page.emulateMedia({ reducedMotion: "reduce" });
    await show(page);
    for (const colorScheme of themes) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      // The theme's colours fade, and canvases are redrawn.
      await page.waitForTimeout(400);
      const path = join(root, "docs", `${name}-${viewport.width}-${colorScheme}.png`);
      await page.screenshot({ path, animations: "disabled" });
      console.log(path);
    }
    await context.close();
  }
  for (const colorScheme of isRequested("moving") ? /** @type {const} */ (["light", "dark"]) : []) {
    const viewport = { width: 1280, height: 800 };
    const { context, page } = await openApp(STREAMING, viewport, colorScheme);
    await writeQuestions(page);
    const frames = await recordFrames(page, async () => {
      await sendInTurn(page);
      // While a pane is busy it has a button "Stop" instead.
      const send = page.getByRole("main").getByRole("button", { name: "Send", exact: true });
      for (const index of QUESTIONS.keys()) await send.nth(index).waitFor();
    });
    const path = join(root, "docs", `moving-${viewport.width}-${colorScheme}.webp`);
    await writeMovingPicture(path, frames);
    console.log(`${path}: ${frames.length} frames`);
    await context.close();
  }
} finally {
  await browser.close();
  await server.close();
}

/** Opens the app in a folder of its own: nothing is remembered from the one before. */
async function openApp(
  /** @type {string} */ query,
  /** @type {{ width: number, height: number }} */ viewport,
  /** @type {Theme} */ colorScheme,
) {
  const context = await browser.newContext({ viewport, colorScheme });
  const page = await context.newPage();
  page.setDefaultTimeout(LONGEST_MS);
  await page.goto(`${server.url}?${query}`);
  await messageBox(page, 0).waitFor();
  return { context, page };
}

async function askOne(/** @type {Page} */ page) {
  await messageBox(page, 0).fill(QUESTIONS[0] ?? "");
  await messageBox(page, 0).press("Enter");
  await page.getByRole("button", { name: "Stop", exact: true }).waitFor();
  await page.getByRole("button", { name: "Send", exact: true }).waitFor();
}

/** Opens panes until there are four, and writes each its question. Then the model has been loaded: no pane shows how far it is. */
async function writeQuestions(/** @type {Page} */ page) {
  for (const [index, question] of QUESTIONS.entries()) {
    if (index > 0) await page.keyboard.press("Alt+n");
    await messageBox(page, index).fill(question);
  }
  await page.getByRole("heading", { name: /^Getting .* ready$/ }).waitFor({ state: "hidden" });
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
