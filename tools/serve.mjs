// npm run serve: installs and builds what is needed, finds WebGPU for Node, and serves a model over OpenAI's API.

import "./require-node.mjs";

import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { root, run } from "./run-command.mjs";
import { setUp } from "./setup.mjs";

const built = join(root, "dist", "lib", "serve.js");

await setUp();
if (isStale()) {
  console.log("Building…");
  const isBuilt = await run("vite build --logLevel warn --config vite.lib.config.ts", { output: "if-failed" });
  if (!isBuilt) process.exit(1);
}
const load = (/** @type {string} */ name) => import(pathToFileURL(join(root, "dist", "lib", name)).href);
const [{ createEngine }, { serveProcess }] = await Promise.all([load("chorus.js"), load("serve.js")]);

await serveProcess({ createEngine, openWebGpu });

async function openWebGpu() {
  const { ensureDawn } = await import("./browsers/install-dawn.mjs");
  const dawn = await ensureDawn();
  if (!dawn) return { reason: "no driver was found" };
  if (dawn.driver) process.env.VK_DRIVER_FILES = dawn.driver;
  const { create } = await import(dawn.module);
  return { gpu: create([]) };
}

/** Whether a source is newer than what was built of it. */
function isStale() {
  if (!existsSync(built)) return true;
  const builtMs = statSync(built).mtimeMs;
  const sources = ["src", "shaders"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true }).map((path) => join(root, folder, String(path))),
  );
  return [...sources, join(root, "vite.lib.config.ts"), join(root, "package-lock.json")].some(
    (path) => statSync(path).mtimeMs > builtMs,
  );
}
