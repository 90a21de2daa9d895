// The built app in Firefox, as a person uses it.

import type { Page } from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Firefox, hasFirefox } from "./support/firefox.ts";

const pane = (number: number) => `section[aria-label="Pane ${number}"]`;
const button = (name: string) => `::-p-aria([name="${name}"][role="button"])`;
/** Puppeteer doesn't wait until such a button does something. */
const labelled = (beginning: string) => `button[aria-label^="${beginning}"]:not(:disabled, [aria-disabled="true"])`;
const PANES = [1, 2, 3, 4];

/** Texts that a highlight marks. */
const marked = (page: Page, name: string) =>
  page.evaluate((key: string) => [...(CSS.highlights.get(key) ?? [])].map(String), name);

/** A timer asks: a page whose frames are late, as beside a software GPU, is looked at all the same. */
const PATIENCE = { timeout: 120_000, interval: 200 };

/** Returns the newest turns of these panes; resolves when all have ended. */
async function answersOf(page: Page, numbers: readonly number[]): Promise<string[]> {
  const turns = numbers.map((number) => `${pane(number)} [role="log"] article:last-of-type`);
  const ended = () =>
    page.evaluate(
      (selectors) => selectors.map((turn) => !!document.querySelector(`${turn} > footer > p`)?.textContent),
      turns,
    );
  await expect.poll(ended, PATIENCE).not.toContain(false);
  return Promise.all(turns.map((turn) => page.$eval(`${turn} [data-answer]`, ({ textContent }) => textContent ?? "")));
}

async function hasTurns(page: Page, number: number, count: number): Promise<void> {
  const articles = `${pane(number)} [role="log"] article`;
  const counted = () => page.evaluate((selector) => document.querySelectorAll(selector).length, articles);
  await expect.poll(counted, PATIENCE).toBe(count);
}

/** Says what was there instead, if the text does not come. */
async function seen(page: Page, text: RegExp, part = "body"): Promise<void> {
  const found = () => page.evaluate((selector) => document.querySelector<HTMLElement>(selector)?.innerText ?? "", part);
  await expect.poll(found, PATIENCE).toMatch(new RegExp(text.source, "m"));
}

describe.skipIf(!hasFirefox).each(["webgpu", "cpu"])("the app in Firefox, on %s", (backend) => {
  let firefox: Firefox;
  let page: Page;
  let answers: string[];
  beforeAll(async () => {
    firefox = await Firefox.open();
    page = await firefox.newPage(`${firefox.appUrl}?backend=${backend}&temperature=0&max_tokens=12`);
  });
  afterAll(() => firefox.close());

  it("answers four panes asked at once, in steps that they share", async () => {
    for (const number of PANES.slice(1)) {
      await page.locator(button("Add pane")).click();
      await page.waitForSelector(pane(number));
    }
    await page.locator(button("Send to all")).click();
    await page.locator(`dialog:popover-open textarea`).fill("Tell me a joke");
    await page.locator(`dialog:popover-open button[type="submit"]`).click();
    answers = await answersOf(page, PANES);
    expect(answers[0]).toMatch(/\w+ \w+/);
    expect(new Set(answers).size).toBe(1);
    const peak = () =>
      page.$$eval(
        "dt",
        (terms) => terms.find(({ textContent }) => textContent?.includes("Peak"))?.nextElementSibling?.textContent,
      );
    await expect.poll(peak, PATIENCE).toBe("4");
  });

  it("has the chats after a reload, and goes on", async () => {
    await page.reload();
    expect(await answersOf(page, PANES)).toEqual(answers);
    await page.locator(`${pane(1)} textarea`).fill("What is the capital of France?");
    await page.locator(`${pane(1)} ${button("Send")}`).click();
    await hasTurns(page, 1, 2);
    expect((await answersOf(page, [1]))[0]).toContain("Paris");
  });

  it("answers by a JSON schema", async () => {
    await page.locator(button("Settings of pane 2")).click();
    await page.locator("dialog[open] summary").click();
    await page.locator("dialog[open] ::-p-aria([name='Answer in JSON'][role='textbox'])").fill('{"type": "boolean"}');
    await page.keyboard.press("Escape");
    await page.locator(`${pane(2)} textarea`).fill("Is it so?");
    await page.locator(`${pane(2)} ${button("Send")}`).click();
    await hasTurns(page, 2, 2);
    expect((await answersOf(page, [2]))[0]).toMatch(/^(true|false)/);
  });

  // The rest is the same on both: what a GPU computes is compared in library.firefox.ts.
  it.runIf(backend === "cpu")("marks the word of a cell, and the cell of a word", async () => {
    const cursor = await page.waitForSelector("::-p-aria([name='Step and sequence'])");
    await cursor?.focus();
    const back = async () => {
      await page.keyboard.press("ArrowLeft");
      return marked(page, "token");
    };
    await expect.poll(back, { timeout: 120_000 }).toEqual([expect.stringMatching(/\S/)]);
    await page.keyboard.press("Escape");
    const answer = await page.waitForSelector(`${pane(1)} article:last-of-type [data-answer]`);
    const { x = 0, y = 0 } = (await answer?.boundingBox()) ?? {};
    await page.mouse.move(x + 8, y + 12);
    await expect.poll(() => marked(page, "pointed")).toEqual(["The"]);
    await seen(page, /Pane 1, turn 2: prompt/);
    await page.mouse.move(0, 0);
  });

  it.runIf(backend === "cpu")("goes on from a word of an earlier visit with another one", async () => {
    await page.locator(`${pane(3)} article:last-of-type ${labelled("Probabilities")}`).click();
    const words = await page.waitForSelector(`${pane(3)} [aria-label="Probabilities, word by word"]`);
    await words?.focus();
    // Enter comes before the alternatives do.
    for (const key of ["ArrowRight", "ArrowRight", "Enter"] as const) await page.keyboard.press(key);
    await page.waitForSelector('[aria-label="Alternatives"] button:focus');
    await page.keyboard.press("Enter");
    await seen(page, /Continued with .* \(\d+ of \d+ prompt tokens computed/);
  });

  it.runIf(backend === "cpu")("undoes closing, keeps variants, and finds a closed chat by its words", async () => {
    await page.locator(`${pane(1)} article:last-of-type ${labelled("Regenerate")}`).click();
    await page.waitForSelector("fieldset ::-p-text(2/2)");
    await page.locator(labelled("Previous variant")).click();
    await page.waitForSelector("fieldset ::-p-text(1/2)");
    const isThere = () => page.evaluate((one) => document.querySelector(one) !== null, pane(1));
    const isGone = () => expect.poll(isThere, PATIENCE).toBe(false);
    await page.locator(labelled("Close pane 1")).click();
    await isGone();
    await page.locator("button ::-p-text(Undo)").click();
    await page.waitForSelector("fieldset ::-p-text(1/2)");
    await page.locator(labelled("Close pane 1")).click();
    await isGone();
    await page.locator("nav input[type='search']").fill("paris capital");
    await seen(page, /^1 chat found/, "nav[aria-label='Chats']");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await seen(page, /Paris/, "main");
  });

  it.runIf(backend === "cpu")("explains its words, and plays a recording", async () => {
    await page.locator(labelled("About batching")).click();
    await page.waitForSelector("dialog[open] [role='img']");
    await page.keyboard.press("Escape");
    await page.evaluate(() => location.assign("#/player"));
    await page.locator("button ::-p-text(Play the example)").click();
    const step = await page.waitForSelector('input[aria-label="Step"]');
    await step?.press("End");
    await seen(page, /\w+ \w+ \w+/, '[aria-label="Pane 1, turn 1"] [role="group"]');
    await page.evaluate(() => location.assign("#/"));
  });

  it.runIf(backend === "cpu")("shows the demo, at once and one after the other", async () => {
    await page.locator('a[href="#/demo"]').click();
    await seen(page, /Exactly the same answers both times/);
  });

  it.runIf(backend === "cpu")("measures decoding on the benchmark page", async () => {
    const bench = await firefox.newPage(
      `${firefox.appUrl}#/bench?backend=cpu&quick&model=tiny&sections=decode&sequences=1,2&outputTokens=4&repeats=1`,
    );
    await bench.locator(button("Run")).click();
    await seen(bench, /^Done in \d+ s$/);
    const cells = await bench.$$eval("section table tbody tr > *", (all) => all.map(({ textContent }) => textContent));
    expect(cells[0]).toBe("1");
    expect(Number(cells[1]?.replaceAll(",", ""))).toBeGreaterThan(0);
  });

  it("leaves nothing in the console, and needs nothing that its policy forbids", async () => {
    expect(firefox.problems).toEqual([]);
    await page.evaluate(() => {
      const script = document.createElement("script");
      script.textContent = "document.title = 'smuggled'";
      document.body.append(script);
    });
    await expect.poll(() => firefox.problems.join()).toContain("forbidden: script-src-elem inline");
    expect(await page.title()).not.toBe("smuggled");
  });
});
