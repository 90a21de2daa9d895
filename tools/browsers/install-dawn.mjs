import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

import { listChromiums } from "./find-chromium.mjs";
import { installFolder } from "./install-folder.mjs";
import { root } from "../run-command.mjs";

const folder = join(root, "tools", "browsers", "dawn");
const entry = join(folder, "node_modules", "webgpu", "index.js");

/**
 * Installs Dawn where it is not, and finds a Vulkan driver for it. Returns its module's URL, and what VK_DRIVER_FILES must be ("":
 * the system's own); null where there is none: a line then says what was tried.
 */
export async function ensureDawn() {
  const report = [];
  if (!(await installFolder(folder, "about 130 MB")).isInstalled) report.push("npm could not install it");
  for (const driver of report.length > 0 ? [] : ["", ...chromiumDrivers()]) {
    if (hasAdapter(driver)) return { module: pathToFileURL(entry).href, driver };
    report.push(`${driver || "the system's Vulkan"}: no adapter`);
  }
  console.log(`Skipped: no WebGPU for Node can be had here (${report.join("; ")}).`);
  return null;
}

/** Chromium brings a Vulkan driver of its own, SwiftShader, beside its program. */
function chromiumDrivers() {
  const folders = [...listChromiums().map((path) => dirname(path)), "/usr/lib/chromium", "/opt/google/chrome"];
  return [...new Set(folders)].map((path) => join(path, "vk_swiftshader_icd.json")).filter((path) => existsSync(path));
}

/** In a process of its own: a driver is chosen once a process. */
function hasAdapter(/** @type {string} */ driver) {
  const script = `
    const { create } = await import(${JSON.stringify(pathToFileURL(entry).href)});
    const adapter = await create([]).requestAdapter();
    process.exit(adapter ? 0 : 1);`;
  const env = { ...process.env, ...(driver && { VK_DRIVER_FILES: driver }) };
  return spawnSync(process.execPath, ["--input-type=module", "-e", script], { env, timeout: 60_000 }).status === 0;
}
