// A walk over the whole app: random clicks, keys, words and sizes of the window, while four panes and more stream.

import { setTimeout as pause } from "node:timers/promises";
import { seededRandom } from "../../lab/seeded-random.ts";
import type { ChatRecord } from "../../src/app/state/workspace/chat-record.ts";
import { within } from "../../tools/time-limits.mjs";
import { axeFindings } from "./axe.ts";
import { inPage, type AnyPage } from "./in-page.ts";
import { readRecords } from "./read-records.ts";
import { shifts } from "./shifts.ts";

/** Without a time it ends once everything has been checked. */
const { CHORUS_WALK_MINUTES = "0", CHORUS_WALK_SEED: SEED = "1" } = process.env;
const WALK_MS = Number(CHORUS_WALK_MINUTES) * 60_000;
/** Most that a walk takes on a slow machine. */
export const MOST_MS = 2 * WALK_MS + 300_000;
/** Of the fake app's address. */
export const QUERY = "keep&panes=4&stepms=60&max_tokens=300";

/** A page to walk over. Each driver of browsers does these things in its own way. */
export interface WalkedPage extends AnyPage {
  /** Presses keys at once, such as "Control+Shift+o". */
  press(keys: string): Promise<unknown>;
  type(words: string): Promise<unknown>;
  click(x: number, y: number): Promise<unknown>;
  resize(width: number, height: number): Promise<unknown>;
  reload(): Promise<unknown>;
  /** Exceptions and errors of its console so far. */
  readonly problems: readonly string[];
}

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
/** Most that the page may take for one act, on a busy machine, too. */
const ACT_MS = 120_000;
/** So long the page may move after an act. What moves in the second after that does so by itself. */
const [SETTLE_MS, STILL_MS] = [1000, 1000];
const MAX_SHIFT = 0.02;

/**
 * Walks over the fake app, which is open with `QUERY`. Prints how much it did.
 * @throws Error with the seed and the last acts for an exception, a blank page, a lost answer, a shift or a finding of axe
 */
export async function walk(page: WalkedPage): Promise<void> {
  const random = seededRandom(Number(SEED));
  const oneOf = (items: readonly string[]) => items[Math.floor(random() * items.length)] ?? "";
  const acts: string[] = [];
  /** The longest answer that was seen to a question, letters only, whatever they look like. */
  const seen = new Map<string, string>();
  const counts = { acts: 0, questions: 0, streaming: 0, reloads: 0, axe: 0, greatestShift: 0 };

  const act = async (name: string, work: () => Promise<unknown>) => {
    acts.push(name);
    counts.acts++;
    await within(work(), ACT_MS, "The page did not come back");
    const { answers, problem } = await within(inPage(page, look), ACT_MS, "The page did not answer");
    if (problem || page.problems.length > 0) throw new Error([problem, ...page.problems].join("\n"));
    for (const [question, letters] of answers) {
      if (letters.length > (seen.get(question)?.length ?? 0)) seen.set(question, letters);
    }
  };
  const press = (keys: string) => act(keys, () => page.press(keys));
  const type = (words: string) => act(`"${words}"`, () => page.type(words));
  const resize = (size: string) => {
    const [width = 0, height = 0] = size.split("x").map(Number);
    return act(size, () => page.resize(width, height));
  };
  const click = async () => {
    const target = await inPage(page, chooseTarget, Array.from({ length: 30 }, random));
    if (target !== null) await act(`click ${target.name}`, () => page.click(target.x, target.y));
  };
  const count = (selector: string) => inPage(page, (all) => document.querySelectorAll(all).length, selector);
  /** Answers that still grow are stopped, so that in every mode of batching the new ones grow at once. */
  const askAll = async () => {
    await act("home", () => inPage(page, goHome));
    await press("Control+.");
    for (let open = await count(PANE); open < NUM_STREAMING; open++) await press("Alt+n");
    await press("Alt+a");
    await type(`Walk ${++counts.questions}`);
    await press("Enter");
    counts.streaming += await count(`${PANE} form button:not([type="submit"])`);
  };
  /** Firefox measures no shifts. */
  const expectStill = async () => {
    if (!(await inPage(page, () => PerformanceObserver.supportedEntryTypes.includes("layout-shift")))) return;
    await pause(SETTLE_MS);
    await inPage(page, idle);
    const before = await shifts(page);
    await pause(STILL_MS);
    const shift = (await shifts(page)) - before;
    counts.greatestShift = Math.max(counts.greatestShift, shift);
    if (shift < MAX_SHIFT) return;
    throw new Error(`It moved by ${shift}: ${JSON.stringify(await inPage(page, () => window.shifts.slice(-9)))}`);
  };
  const expectKept = async () => {
    const untilMs = performance.now() + ACT_MS;
    for (;;) {
      const stored = answersIn(await inPage(page, readRecords));
      const lost = [...seen].filter(
        ([question, letters]) => !stored.some((each) => each.startsWith(question + letters)),
      );
      if (lost.length === 0) return;
      if (performance.now() > untilMs) throw new Error(`Lost: ${JSON.stringify(lost)}`);
    }
  };
  const expectAccessible = async () => {
    counts.axe++;
    const isModal = (await count("dialog:modal")) > 0;
    const findings = await axeFindings(page, isModal ? "dialog:modal" : "html");
    if (findings.length > 0) throw new Error(findings.join("\n"));
  };
  const reload = () => {
    counts.reloads++;
    return act("reload", () => page.reload().then(() => inPage(page, prepare)));
  };

  try {
    await act("open", () => inPage(page, prepare));
    const endMs = performance.now() + WALK_MS;
    for (let round = 1; round <= RELOAD_ROUNDS || performance.now() < endMs; round++) {
      await askAll();
      for (let number = 0; number < ACTS_PER_ROUND; number++) {
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
    console.log(`Seed ${SEED}:`, { ...counts, kinds: new Set(acts).size });
  } catch (error) {
    throw new Error(`Seed ${SEED}, after ${acts.slice(-60).join(", ")}`, { cause: error });
  }
}

/** Returns the letters of each stored answer after its question. */
function answersIn(records: Readonly<Record<string, unknown>>): string[] {
  const chats = Object.entries(records).filter(([key]) => key.startsWith("chat:"));
  return chats.flatMap(([, record]) => {
    const { turns, inactiveTurns = [] } = (record as ChatRecord).chat;
    return [...turns, ...inactiveTurns].flatMap((turn) =>
      [turn, ...(turn.alternatives?.answers ?? [])].map(
        ({ answer }) => turn.question + answer.replaceAll(/[^a-z]/gi, ""),
      ),
    );
  });
}

// What follows runs in the page.

/**
 * Waits until something is shown. Keeps the walk on the page, and out of the browser's own dialogs for files. It deletes no chat
 * for good.
 */
async function prepare(): Promise<void> {
  for (let count = 0; document.body.innerText.trim() === ""; count++) {
    if (count === 200) throw new Error("The page stays blank.");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  window.open = () => null;
  HTMLInputElement.prototype.click = () => {};
  // Firefox asks where to save a file.
  if (navigator.userAgent.includes("Firefox")) HTMLAnchorElement.prototype.click = () => {};
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

/** Waits until the page has done what it was asked for, which takes a busy machine longer than `SETTLE_MS`. */
function idle(): Promise<void> {
  return new Promise((resolve) => requestIdleCallback(() => resolve(), { timeout: 30_000 }));
}

async function goHome(): Promise<void> {
  for (const dialog of document.querySelectorAll("dialog")) dialog.close();
  location.hash = "#/";
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
}
