// Which Chromium to use: CHROME_PATH, for tests the headless shell, the usual places, the one that Playwright downloads.

import { existsSync } from "node:fs";

import { chromium } from "playwright";

import { aptGetInstall, rootPrefix } from "./apt-get.mjs";
import { adapter } from "./chromium-flags.mjs";
import { ensureBrowser, listPrograms, placesOf } from "./find-browser.mjs";
import { launchChromium } from "../launch-chromium.mjs";
import { askAdapter } from "../time-limits.mjs";

const PLACES = placesOf({
  commands: ["google-chrome", "google-chrome-stable", "chromium", "chromium-browser", "microsoft-edge"],
  applications: ["Google Chrome", "Chromium", "Microsoft Edge"].map((name) => [name, name]),
  programs: [
    "Google/Chrome/Application/chrome.exe",
    "Chromium/Application/chrome.exe",
    "Microsoft/Edge/Application/msedge.exe",
  ],
});
/** Chromium without what is around the page, which no test looks at. */
const SHELLS = placesOf({
  commands: ["chromium-headless-shell", "chrome-headless-shell"],
  applications: [],
  programs: [],
});

/** Returns the paths of installed Chromiums, best first, without trying them. Tests prefer the headless shell. */
export function listChromiums({ forTests = false } = {}) {
  // A real GPU is asked for in the browser that people use.
  const shells = forTests && adapter === "software" ? SHELLS : [];
  return listPrograms(process.env.CHROME_PATH, [...shells, ...PLACES, chromium.executablePath()]);
}

/** Starts it and asks for a WebGPU adapter. @throws {Error} where it can't be used */
async function tryChromium(/** @type {string} */ executablePath, on = adapter) {
  const browser = await launchChromium(executablePath, { on });
  try {
    const page = await browser.newPage();
    // WebGPU is offered to secure pages only, and localhost counts as one. Nothing is sent: the route answers.
    await page.route("**", (route) => route.fulfill({ contentType: "text/html", body: "" }));
    await page.goto("http://localhost/");
    const found = await askAdapter(page);
    if (!found) throw new Error("it starts, but offers no WebGPU adapter");
    return { version: browser.version(), adapter: `${found.vendor} ${found.architecture}`.trim() };
  } finally {
    await browser.close();
  }
}

/**
 * Returns the path of a Chromium that starts and has WebGPU; installs one where there is none. Where nothing works it says what
 * was tried and ends the process.
 */
export async function ensureChromium(
  /** @type {{ forTests?: boolean, on?: import("./chromium-flags.mjs").Adapter }} */ options = {},
) {
  const { path, tried } = await ensureBrowser("Chromium with WebGPU", {
    list: () => listChromiums(options),
    async attempt(executablePath) {
      const found = await tryChromium(executablePath, options.on);
      return `${found.version}, WebGPU on ${found.adapter}`;
    },
    installations: () => installations(options),
  });
  if (path !== null) return path;
  console.error(
    ["Chorus needs a Chromium with WebGPU (Chrome 113 or newer) and found none. Tried:"]
      .concat(tried.map((line) => `  ${line}`))
      .concat(
        "Install Chrome, Chromium or Edge, or set CHROME_PATH to its program, or run a command above to see why it failed.",
      )
      .join("\n"),
  );
  process.exit(1);
}

/** Commands that may bring one, in order. Each is asked for when those before it were not enough. */
function* installations({ forTests = false } = {}) {
  yield "playwright install chromium";
  if (rootPrefix() !== null && existsSync(chromium.executablePath())) yield "playwright install-deps chromium";
  // Older systems have no package of the shell.
  for (const name of forTests ? ["chromium-headless-shell", "chromium"] : ["chromium"]) yield* aptGetInstall(name);
}
