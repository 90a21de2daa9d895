// A person who tries everything, at once and in no order. `npm run bench -- soak --app` walks for longer.

import { test } from "playwright/test";
import { App } from "./support/app.ts";
import { watchShifts } from "./support/shifts.ts";
import { walk } from "./support/walk.ts";

/** Without a time it ends once everything has been checked. */
const { CHORUS_WALK_MINUTES = "0", CHORUS_WALK_SEED = "1" } = process.env;

test("random clicks, keys and sizes while four panes stream break nothing, and lose nothing", async ({ page }) => {
  const ms = Number(CHORUS_WALK_MINUTES) * 60_000;
  test.setTimeout(2 * ms + 300_000);
  await page.emulateMedia({ reducedMotion: "reduce" });
  await watchShifts(page);
  await App.openFake(page, "keep&panes=4&stepms=60&max_tokens=300");
  console.log(`Seed ${CHORUS_WALK_SEED}:`, await walk(page, { seed: Number(CHORUS_WALK_SEED), ms }));
});
