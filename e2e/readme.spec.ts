// README as GitHub shows it: a stranger sees all of it on two screens.

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { marked } from "marked";
import { expect, test } from "playwright/test";

/** GitHub's sizes: a column of 1012 px, paragraphs of 16 px, code of 85% of that. */
const STYLE = `
  * { box-sizing: border-box }
  body { margin: 0; font: 16px/1.5 "Noto Sans", Helvetica, Arial, sans-serif }
  main { width: 1012px; padding: 32px }
  p, pre, table, ul { margin: 0 0 16px }
  h1, h2 { margin: 24px 0 16px; padding-bottom: .3em; border-bottom: 1px solid; line-height: 1.25 }
  main > :first-child { margin-top: 0 }
  main > :last-child { margin-bottom: 0 }
  code { padding: .2em .4em; font: 85% "Liberation Mono", monospace }
  pre { padding: 16px; overflow: auto; font-size: 85%; line-height: 1.45 }
  pre code { padding: 0; font-size: 100%; line-height: inherit }
  td, th { padding: 6px 13px; border: 1px solid }
  img { max-width: 100%; box-sizing: content-box }
  img[align="right"] { padding-left: 20px }
`;

test("README fits on two screens, with its pictures", async ({ page }) => {
  const html = marked.parse(readFileSync("README.md", "utf8"), { async: false });
  const folder = pathToFileURL(resolve("README.md")).href;
  // From a page of the same scheme: others may not show files.
  await page.goto(pathToFileURL(resolve("LICENSE")).href);
  await page.setContent(`<base href="${folder}"><style>${STYLE}</style><main>${html}</main>`);
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
