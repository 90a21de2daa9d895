// npm run bench -- gpu: builds what runs on a GPU into one folder, and runs it there. lab/gpu/ has the parts.

import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { spawnSync } from "node:child_process";

import { MAX_MS, root } from "../../tools/run-command.mjs";
import { loadModule } from "./load-module.mjs";

/** The folders of tests/fixtures/ that the homes read. */
const FIXTURES = ["gpt2-tiny"];

/**
 * Builds, measures and writes the report. Returns whether anything could be measured.
 *
 * @param {{
 *   pack?: string,
 *   peers?: boolean,
 *   minutes?: string,
 *   models?: string,
 *   sequences?: string,
 *   parts?: string,
 *   homes?: string,
 *   adapter?: string,
 *   asHardware?: boolean,
 *   out?: string,
 *   name?: string,
 * }} options `pack`: only builds, into that folder; all others but `peers` are run.ts's
 */
export async function benchGpu({ pack, peers = false, ...options }) {
  const folder = pack ?? join(root, ".chorus", "gpu-bench");
  console.log("Building…");
  const { homes = "chromium,node" } = options;
  await build(folder, homes);
  if (pack !== undefined) {
    console.log(
      `On a machine with Node: node ${join(folder, "run.js")}. CHROME_PATH names its browser, CHORUS_DAWN its Dawn.`,
    );
    return true;
  }
  const words = Object.entries({ out: "docs/benchmarks", ...options }).flatMap(([name, value]) => {
    if (value === undefined) return [];
    return typeof value === "boolean" ? [`--${name}`] : [`--${name}`, value];
  });
  const env = { ...process.env, ...(await findHomes(homes)) };
  const { status } = spawnSync(process.execPath, [join(folder, "run.js"), ...words], {
    cwd: root,
    env,
    stdio: "inherit",
    timeout: MAX_MS,
  });
  if (status === 0 && peers) {
    const { benchPeers } = await loadModule("lab/peers/bench.ts");
    return benchPeers({ size: "gpt2", quick: true, adapter: options.adapter ?? "real" });
  }
  return status === 0;
}

/** @returns {Promise<Record<string, string>>} */
async function findHomes(/** @type {string} */ homes) {
  /** @type {Record<string, string>} */
  const found = {};
  if (homes.includes("chromium")) {
    const { ensureChromium } = await import("../../tools/browsers/install-chromium.mjs");
    found.CHROME_PATH = await ensureChromium();
  }
  if (homes.includes("node")) {
    const { ensureDawn } = await import("../../tools/browsers/install-dawn.mjs");
    const dawn = await ensureDawn();
    if (dawn) Object.assign(found, { CHORUS_DAWN: dawn.module, CHORUS_VULKAN: dawn.driver });
  }
  return found;
}

/** Builds the page with its workers, and the programs for Node: nothing else is needed. */
async function build(/** @type {string} */ folder, /** @type {string} */ homes) {
  const { build: viteBuild } = await import("vite");
  const { wgslWithoutComments } = await loadModule("tools/plugins/wgsl-plugin.ts");
  rmSync(folder, { recursive: true, force: true });
  const plugins = () => [wgslWithoutComments()];
  const buildInto = (/** @type {import("vite").BuildEnvironmentOptions} */ own) =>
    viteBuild({
      root,
      configFile: false,
      base: "./",
      publicDir: false,
      logLevel: "error",
      worker: { format: "es", plugins },
      plugins: plugins(),
      build: { emptyOutDir: false, reportCompressedSize: false, ...own },
    });
  if (homes.includes("chromium")) {
    const input = join(root, "lab/gpu/page.html");
    await buildInto({ target: "esnext", outDir: join(folder, "page"), rolldownOptions: { input } });
  }
  const entry = { run: join(root, "lab/gpu/run.ts"), "node-home": join(root, "lab/gpu/node-home.ts") };
  await buildInto({
    target: "node20",
    outDir: folder,
    lib: { entry, formats: ["es"] },
    rolldownOptions: { external: /^node:/ },
  });
  for (const name of FIXTURES)
    cpSync(join(root, "tests/fixtures", name), join(folder, "tests/fixtures", name), { recursive: true });
}
