// A walk over the whole app: random clicks, keys, words and sizes of the window, while four panes and more stream.

import type { Page } from "playwright/test";
import { seededRandom } from "../../lab/seeded-random.ts";
import type { ChatRecord } from "../../src/app/state/workspace/chat-record.ts";
import { within } from "../../tools/time-limits.mjs";
import { axeFindings } from "./axe.ts";
import { readRecords } from "./saved-record.ts";
import { shifts } from "./shifts.ts";

const PANE = 'section[aria-label^="Pane "]';
const SIZES = "1440x900 1280x720 390x844 844x390 768x1024".split(" ");
const KEYS = [
  ..."Tab Tab Tab Shift+Tab Enter Space Escape ArrowUp ArrowDown ArrowLeft ArrowRight Home End PageUp".split(" "),
  ..."Delete Backspace Alt+a Alt+h Alt+n Alt+w Alt+b Alt+p Alt+s Alt+ArrowDown Alt+ArrowUp Control+k".split(" "),
  ..."Control+Shift+o Control+z Control+. ?".split(" "),
];
const WORDS = ["fox", "7", "-1", "0.5", "1e999", "dark", "new", "https://hub.example/a/b", "{", "Ünïcode שלום"];

const NUM_STREAMING = 4;
const ACTS_PER_ROUND = 20;
/** Rounds between two checks by axe, which takes seconds, and between two reloads. Every walk comes to the first of both. */
const [AXE_ROUNDS, RELOAD_ROUNDS] = [2, 3];
/** Most that the page may take for one act. */
const ACT_MS = 20_000;
/** So long the page may move after an act. What moves in the second after that does so by itself. */
const [SETTLE_MS, STILL_MS] = [1000, 1000];
const MAX_SHIFT = 0.02;

/**
 * Walks over the fake app, which is open with `keep` and watched for shifts. Returns how much it did.
 * @throws Error with the seed and the last acts for an exception, a blank page, a lost answer, a shift or a finding of axe
 */
export async function walk(page: Page, { seed, ms }: { seed: number; ms: number }) {
  const random = seededRandom(seed);
  const oneOf = (items: readonly string[]) => items[Math.floor(random() * items.length)] ?? "";
  const acts: string[] = [];
  const problems: string[] = [];
  /** The longest answer that was seen to a question, letters only, whatever they look like. */
  const seen = new Map<string, string>();
  const counts = { acts: 0, questions: 0, streaming: 0, reloads: 0, axe: 0, greatestShift: 0 };
  page.on("pageerror", (error) => problems.push(String(error.stack ?? error)));
  page.on("console", (line) => {
    if (line.type() === "error" && !line.text().startsWith("Failed to load resource")) problems.push(line.text());
  });

  const act = async (name: string, work: () => Promise<unknown>) => {
    acts.push(name);
    counts.acts++;
    await within(work(), ACT_MS, "The page did not come back");
    const { answers, problem } = await within(page.evaluate(look), ACT_MS, "The page did not answer");
    if (problem || problems.length > 0) throw new Error([problem, ...problems].join("\n"));
    for (const [question, letters] of answers) {
      if (letters.length > (seen.get(question)?.length ?? 0)) seen.set(question, letters);
    }
  };
  const press = (keys: string) => act(keys, () => page.keyboard.press(keys));
  const type = (words: string) => act(`"${words}"`, () => page.keyboard.type(words));
  const resize = (size: string) => {
    const [width = 0, height = 0] = size.split("x").map(Number);
    return act(size, () => page.setViewportSize({ width, height }));
  };
  const click = async () => {
    const target = await page.evaluate(chooseTarget, Array.from({ length: 30 }, random));
    if (target !== null) await act(`click ${target.name}`, () => page.mouse.click(target.x, target.y));
  };
  /** Answers that still grow are stopped, so that in every mode of batching the new ones grow at once. */
  const askAll = async () => {
    await act("home", () => page.evaluate(goHome));
    await press("Control+.");
    for (let count = await page.locator(PANE).count(); count < NUM_STREAMING; count++) await press("Alt+n");
    await press("Alt+a");
    await type(`Walk ${++counts.questions}`);
    await press("Enter");
    counts.streaming += await page.locator(`${PANE} form button:not([type="submit"])`).count();
  };
  const expectStill = async () => {
    await page.evaluate(pause, SETTLE_MS);
    const before = await shifts(page);
    await page.evaluate(pause, STILL_MS);
    const shift = (await shifts(page)) - before;
    counts.greatestShift = Math.max(counts.greatestShift, shift);
    if (shift < MAX_SHIFT) return;
    throw new Error(`It moved by ${shift}: ${JSON.stringify(await page.evaluate(() => window.shifts.slice(-9)))}`);
  };
  const expectKept = async () => {
    const untilMs = performance.now() + ACT_MS;
    for (;;) {
      const stored = answersIn(await page.evaluate(readRecords));
      const lost = [...seen].filter(
        ([question, letters]) => !stored.some((each) => each.startsWith(question + letters)),
      );
      if (lost.length === 0) return;
      if (performance.now() > untilMs) throw new Error(`Lost: ${JSON.stringify(lost)}`);
    }
  };
  const expectAccessible = async () => {
    counts.axe++;
    const isModal = (await page.locator("dialog:modal").count()) > 0;
    const findings = await axeFindings(page, isModal ? "dialog:modal" : "html");
    if (findings.length > 0) throw new Error(findings.join("\n"));
  };
  const reload = () => {
    counts.reloads++;
    return act("reload", () => page.reload().then(() => page.evaluate(prepare)));
  };

  try {
    await act("open", () => page.evaluate(prepare));
    const endMs = performance.now() + ms;
    for (let round = 1; round <= RELOAD_ROUNDS || performance.now() < endMs; round++) {
      await askAll();
      for (let count = 0; count < ACTS_PER_ROUND; count++) {
        const kind = random();
        if (kind < 0.6) await click();
        else if (kind < 0.85) await press(oneOf(KEYS));
        else if (kind < 0.95) await type(oneOf(WORDS));
        else await resize(oneOf(SIZES));
      }
      await expectStill();
      await expectKept();
      if (round % AXE_ROUNDS === 0) await expectAccessible();
      if (round % RELOAD_ROUNDS === 0) await reload();
    }
    const { questions, streaming } = counts;
    if (streaming < NUM_STREAMING * questions) throw new Error(`${streaming} answers grew to ${questions} questions.`);
    return counts;
  } catch (error) {
    throw new Error(`Seed ${seed}, after ${acts.slice(-60).join(", ")}`, { cause: error });
  }
}

/** Returns the letters of each stored answer after its question. */
function answersIn(records: Readonly<Record<string, unknown>>): string[] {
  const chats = Object.entries(records).filter(([key]) => key.startsWith("chat:"));
  return chats.flatMap(([, record]) => {
    const { turns, unchosen = [] } = (record as ChatRecord).chat;
    return [...turns, ...unchosen].flatMap((turn) =>
      [turn, ...(turn.several?.answers ?? [])].map(({ answer }) => turn.question + answer.replaceAll(/[^a-z]/gi, "")),
    );
  });
}

// What follows runs in the page.

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Waits until something is shown. Keeps the walk on the page, whose chats it deletes none of for good. */
async function prepare(): Promise<void> {
  for (let count = 0; document.body.innerText.trim() === ""; count++) {
    if (count === 200) throw new Error("The page stays blank.");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  window.open = () => null;
  const forbid = (event: Event) => {
    const forbidden = 'a[target="_blank"], fieldset[aria-label^="Delete"] button:first-of-type';
    if (event.target instanceof Element && event.target.closest(forbidden)) {
      event.preventDefault();
      event.stopImmediatePropagation();
    }
  };
  addEventListener("click", forbid, true);
}

function look() {
  const text = document.body.innerText;
  const answers = [...document.querySelectorAll("article")].map((article): [string, string] => [
    article.querySelector("p")?.lastChild?.textContent ?? "",
    (article.querySelector("[data-answer]")?.textContent ?? "").replaceAll(/[^a-z]/gi, ""),
  ]);
  return {
    // The others may have figures and lists, which look other than they are stored.
    answers: answers.filter(([question, letters]) => /^Walk \d+$/.test(question) && letters.startsWith("Thereis")),
    problem: text.trim() === "" ? "The page is blank." : (/.+ can’t be shown/.exec(text)?.[0] ?? ""),
  };
}

/** Chooses something that can be pressed: first a name without its numbers, so that sixteen panes' buttons are as one. */
function chooseTarget(chances: readonly number[]) {
  const pressable = "button, a[href], input, textarea, select, summary, [tabindex], canvas";
  const byName = new Map<string, Element[]>();
  for (const element of document.querySelectorAll(pressable)) {
    const label = element.getAttribute("aria-label") ?? element.textContent;
    const name = `${element.tagName} ${label}`.replaceAll(/\d+/g, "#").slice(0, 40);
    if (element.checkVisibility()) byName.set(name, [...(byName.get(name) ?? []), element]);
  }
  for (const chance of chances) {
    const at = chance * byName.size;
    const [name, elements] = [...byName][Math.floor(at)] ?? ["", []];
    const element = elements[Math.floor((at % 1) * elements.length)];
    const { left = 0, top = 0, width = 0, height = 0 } = element?.getBoundingClientRect() ?? {};
    const [x, y] = [left + width / 2, top + height / 2];
    const hit = document.elementFromPoint(x, y);
    if (element && hit && (element.contains(hit) || hit.contains(element))) return { name, x, y };
  }
  return null;
}

async function goHome(): Promise<void> {
  for (const dialog of document.querySelectorAll("dialog")) dialog.close();
  location.hash = "#/";
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
}
