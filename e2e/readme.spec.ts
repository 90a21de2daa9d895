// README as GitHub shows it: a stranger sees all of it on two screens.

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { marked } from "marked";
import { expect, test } from "playwright/test";

/** The width of these words in Helvetica, Arial and Liberation Sans at 16 px: 404.7 px. */
const SAMPLE = { words: "abcdefghijklmnopqrstuvwxyz etaoin shrdlu, etaoin shrdlu.", width: 404.7 };

/**
 * GitHub's sizes: a column of 1012 px, paragraphs of 16 px, code of 85% of that. Of any font: `size` is that at which the
 * machine's has Helvetica's width. Monospaced fonts have about the same. The height of lines is given.
 */
const styleFor = (size: number) => `
  * { box-sizing: border-box }
  body { margin: 0; font: ${size}px/24px sans-serif }
  main { width: 1012px; padding: 32px }
  p, pre, table, ul { margin: 0 0 16px }
  h1, h2 { margin: 24px 0 16px; padding-bottom: 8px; border-bottom: 1px solid }
  h1 { font-size: ${2 * size}px; line-height: 40px }
  h2 { font-size: ${1.5 * size}px; line-height: 30px }
  main > :first-child { margin-top: 0 }
  main > :last-child { margin-bottom: 0 }
  code { padding: .2em .4em; font: 13.6px/13.6px monospace }
  pre { padding: 16px; overflow: auto; font: 13.6px/19.72px monospace }
  pre code { padding: 0; line-height: inherit }
  td, th { padding: 6px 13px; border: 1px solid }
  img { max-width: 100%; box-sizing: content-box }
  img[align="right"] { padding-left: 20px }
`;

test("README fits on two screens, with its pictures", async ({ page }) => {
  const html = marked.parse(readFileSync("README.md", "utf8"), { async: false });
  const folder = pathToFileURL(resolve("README.md")).href;
  // From a page of the same scheme: others may not show files.
  await page.goto(pathToFileURL(resolve("LICENSE")).href);
  const size = await page.evaluate(({ words, width }) => {
    const context = document.createElement("canvas").getContext("2d");
    if (!context) return NaN;
    context.font = "16px sans-serif";
    return (16 * width) / context.measureText(words).width;
  }, SAMPLE);
  await page.setContent(`<base href="${folder}"><style>${styleFor(size)}</style><main>${html}</main>`);
  const widths = await page.evaluate(async () => {
    const images = [...document.images];
    await Promise.all(images.map((image) => image.decode()));
    return images.map(({ width }) => width);
  });
  expect(widths.length).toBeGreaterThanOrEqual(3);
  for (const width of widths) expect(width).toBeGreaterThanOrEqual(400);
  const box = await page.locator("main").boundingBox();
  expect(box?.height).toBeLessThan(2 * 900);
});
