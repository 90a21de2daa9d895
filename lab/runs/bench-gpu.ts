// npm run bench -- gpu: builds what runs on a GPU into one folder, and runs it there. lab/gpu/ has the parts.

import { spawnSync } from "node:child_process";
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { build, type BuildEnvironmentOptions } from "vite";

import { ensureChromium } from "../../tools/browsers/find-chromium.mjs";
import { ensureDawn } from "../../tools/browsers/install-dawn.mjs";
import { wgslWithoutComments } from "../../tools/plugins/wgsl-plugin.ts";
import { MAX_MS, root } from "../../tools/run-command.mjs";
import type { OptionsOf } from "./bench-parts.ts";
import { loadModule } from "./load-module.mjs";

/** The folders of tests/fixtures/ that the homes read. */
const FIXTURES = ["gpt2-tiny"];

/** Builds, measures and writes the report. Returns whether anything could be measured. All other options are run.ts's. */
export async function run({ pack, peers = false, ...options }: OptionsOf<"gpu">): Promise<boolean> {
  const folder = pack ?? join(root, ".chorus", "gpu-bench");
  console.log("Building…");
  const { homes = "chromium,node" } = options;
  await buildFolder(folder, homes);
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
  if (status !== 0 || !peers) return status === 0;
  const { run: runPeers } = await loadModule("lab/peers/bench.ts");
  return runPeers({ size: "gpt2", quick: true, adapter: options.adapter ?? "real" });
}

async function findHomes(homes: string): Promise<Record<string, string>> {
  const dawn = homes.includes("node") ? await ensureDawn() : null;
  return {
    ...(homes.includes("chromium") && { CHROME_PATH: await ensureChromium() }),
    ...(dawn && { CHORUS_DAWN: dawn.module, CHORUS_VULKAN: dawn.driver }),
  };
}

/** Builds the page with its workers, and the programs for Node: nothing else is needed. */
async function buildFolder(folder: string, homes: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  const plugins = () => [wgslWithoutComments()];
  const buildInto = (own: BuildEnvironmentOptions) =>
    build({
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
