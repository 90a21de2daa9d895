// Which WebKit to test in: WEBKIT_DRIVER_PATH, then the driver of WebKitGTK in the usual places. Playwright's WebKit is one
// that it patched itself.

import { spawn } from "node:child_process";
import { createServer } from "node:net";

import { aptGetInstall } from "./apt-get.mjs";
import { ensureIfPossible, listPrograms, placesOf } from "./find-browser.mjs";
import { within } from "../time-limits.mjs";
import { WebDriverSession } from "./webdriver.mjs";

const START_MS = 60_000;

/** Paths of every driver that seems to be there, best first; none has been tried. */
export function listWebKits() {
  const places = placesOf({ commands: ["WebKitWebDriver"], applications: [], programs: [] });
  return listPrograms(process.env.WEBKIT_DRIVER_PATH, places);
}

/** Starts the driver and a window of its browser; on a display that nobody sees where there is none. */
export async function launchWebKit(/** @type {string} */ driverPath) {
  const port = await freePort();
  const hasDisplay = Boolean(process.env.DISPLAY || process.env.WAYLAND_DISPLAY);
  const command = [...(hasDisplay ? [] : ["xvfb-run", "--auto-servernum"]), driverPath, `--port=${port}`];
  // WebKit's sandbox needs rights that containers lack; the pages are ours. A group of its own, so that all of it ends.
  const env = { ...process.env, WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: "1" };
  const driver = spawn(command[0] ?? "", command.slice(1), { stdio: "ignore", detached: true, env });
  const end = () => driver.pid !== undefined && process.kill(-driver.pid);
  try {
    /** @type {Promise<never>} */
    const failed = new Promise((_, reject) => driver.once("error", reject));
    await Promise.race([failed, untilItAnswers(`http://127.0.0.1:${port}/status`)]);
    const session = await WebDriverSession.open(`http://127.0.0.1:${port}`);
    const close = async () => {
      await session.close().finally(end);
    };
    return { session, close };
  } catch (error) {
    end();
    throw error;
  }
}

export function ensureWebKit() {
  return ensureIfPossible("WebKit", "WEBKIT_DRIVER_PATH", {
    list: listWebKits,
    async attempt(driverPath) {
      const { session, close } = await launchWebKit(driverPath);
      await close();
      return session.browser;
    },
    installations: () => aptGetInstall("webkit2gtk-driver xvfb"),
  });
}

async function untilItAnswers(/** @type {string} */ url) {
  for (const beginMs = Date.now(); ;) {
    try {
      await within(fetch(url), START_MS, "the driver did not answer");
      return;
    } catch (error) {
      if (Date.now() - beginMs > START_MS) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

/** @returns {Promise<number>} */
function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
      server.close(() => resolve(port));
    });
  });
}
