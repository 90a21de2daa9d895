// npm start: installs what is needed, builds, serves the app and opens it.

import { spawn } from "node:child_process";

import { addOptions, openCommand } from "./command-line.mjs";
import { buildAndServe } from "./serve-app.mjs";

const start = await openCommand(
  "npm start --",
  "Builds the app, serves it on this machine, and opens it in the browser.",
);
await addOptions(start, [{ flags: "--no-open", about: "leaves the browser alone" }]);
const { open } = start.parse().opts();
const { url, close } = await buildAndServe(5173);
console.log(`\nChorus is at ${url}\nCtrl+C ends it.`);
if (open && !process.env.CI) openInBrowser(url);

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
