// npm start: installs what is needed, builds, serves the app and opens it. `--no-open` leaves the browser alone.

import "./require-node.mjs";

import { spawn } from "node:child_process";

import { buildAndServe } from "./serve-app.mjs";
import { setUp } from "./setup.mjs";

await setUp();
const { url, close } = await buildAndServe(5173);
console.log(`\nChorus is at ${url}\nCtrl+C ends it.`);
if (!process.argv.includes("--no-open") && !process.env.CI) openInBrowser(url);

for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, () => void close().then(() => process.exit(0)));
}

/** Best effort: the address is on the terminal anyway. */
function openInBrowser(/** @type {string} */ address) {
  const { env, platform } = process;
  if (platform === "linux" && !env.DISPLAY && !env.WAYLAND_DISPLAY) return;
  const [command, ...words] =
    platform === "darwin"
      ? ["open", address]
      : platform === "win32"
        ? ["cmd", "/c", "start", "", address]
        : ["xdg-open", address];
  const opener = spawn(command, words, { stdio: "ignore", detached: true });
  opener.on("error", () => undefined);
  opener.unref();
}
