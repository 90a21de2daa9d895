// A person who tries everything, at once and in no order. `npm run bench -- soak --app` walks for longer.

import { test } from "playwright/test";
import { App } from "./support/app.ts";
import { watchShifts } from "./support/shifts.ts";
import { MOST_MS, QUERY, walk } from "./support/walk.ts";

test("random clicks, keys and sizes while four panes stream break nothing, and lose nothing", async ({ page }) => {
  test.setTimeout(MOST_MS);
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(String(error.stack ?? error)));
  page.on("console", (line) => {
    if (line.type() === "error" && !line.text().startsWith("Failed to load resource")) problems.push(line.text());
  });
  await page.emulateMedia({ reducedMotion: "reduce" });
  await watchShifts(page);
  await App.openFakeAsFound(page, QUERY);
  await walk({
    problems,
    evaluate: (text) => page.evaluate(text),
    press: (keys) => page.keyboard.press(keys),
    type: (words) => page.keyboard.type(words),
    click: (x, y) => page.mouse.click(x, y),
    resize: (width, height) => page.setViewportSize({ width, height }),
    reload: () => page.reload(),
  });
});
