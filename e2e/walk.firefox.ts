// The walk of walk.spec.ts in Firefox. `npm run bench -- soak --app --browser firefox` walks for longer.

import type { KeyInput } from "puppeteer-core";
import { it, vi } from "vitest";
import { servePage } from "../tools/serve-page.mjs";
import { Firefox, hasFirefox } from "./support/firefox.ts";
import { MOST_MS, QUERY, walk } from "./support/walk.ts";

/** Alt with a letter would open one of the window's own menus where the app has nothing to do. */
const PREFERENCES = { "ui.prefersReducedMotion": 1, "ui.key.menuAccessKey": 0 };

it.skipIf(!hasFirefox)(
  "random clicks, keys and sizes break nothing, and lose nothing",
  { timeout: MOST_MS },
  async () => {
    // Else the development build of React would be served.
    vi.stubEnv("NODE_ENV", "production");
    const [firefox, site] = await Promise.all([Firefox.open(PREFERENCES), servePage("tests/app/fake-app.html")]);
    try {
      const page = await firefox.newPage(`${site.url}?${QUERY}`);
      await walk({
        problems: firefox.problems,
        evaluate: (text) => page.evaluate(text),
        press: async (keys) => {
          const held = keys.replace("Space", " ").split("+") as KeyInput[];
          const last = held.pop();
          for (const key of held) await page.keyboard.down(key);
          if (last) await page.keyboard.press(last);
          for (const key of held) await page.keyboard.up(key);
        },
        type: (words) => page.keyboard.type(words),
        click: (x, y) => page.mouse.click(x, y),
        resize: (width, height) => page.setViewport({ width, height }),
        reload: () => page.reload(),
      });
    } finally {
      await firefox.close();
      await site.close();
    }
  },
);
