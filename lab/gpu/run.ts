// The command's second half, which needs nothing but Node, a Chromium and Dawn: node run.js, with the arguments of
// `npm run bench -- gpu`. CHROME_PATH names the browser, CHORUS_DAWN the module of Dawn.

import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { cpus, tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

import { version } from "../../package.json";
import { testFlags, type Adapter } from "../../tools/browsers/chromium-flags.mjs";
import { openDriver, type Outcome } from "./driver.ts";
import { HOME_NAMES, type HomeName, type HomeOptions, type HomeReport, type Said } from "./home.ts";
import { gpuReportMarkdown, wrongSections, type GpuReport } from "./report.ts";

const folder = import.meta.dirname;
/** Share of the time, relative to the other home's. */
const SHARES: Readonly<Record<HomeName, number>> = { chromium: 3, node: 2 };
/** Starting and ending programs. */
const RESERVE_MINUTES = 0.2;

const values = readOptions();
const startMs = performance.now();
const minutes = Number(values.minutes);
if (!(minutes > 0)) {
  console.error(`--minutes ${values.minutes}: give a number above 0.`);
  process.exit(1);
}
const words = process.argv.slice(2).join(" ");
const chosen = HOME_NAMES.filter((name) => values.homes.split(",").includes(name));

const reports = new Map<HomeName, HomeReport>();
const missing: string[] = [];
const startedAt = new Date().toISOString();
const driver = await openDriver(folder);

let sharesLeft = chosen.reduce((sum, name) => sum + SHARES[name], 0);
for (const name of chosen) {
  const leftMinutes = minutes - (performance.now() - startMs) / 60_000 - RESERVE_MINUTES;
  const ofHome = Math.max(0.05, (leftMinutes * SHARES[name]) / sharesLeft);
  sharesLeft -= SHARES[name];
  const { models, sequences, parts, asHardware } = values;
  const options: HomeOptions = { minutes: ofHome, models, sequences, parts, asHardware };
  console.log(`\n${name}, at most ${ofHome.toFixed(1)} minutes`);
  const outcome = await (name === "chromium" ? inChromium(options) : inNode(options));
  if (outcome.failure !== null) missing.push(`${name}: ${outcome.failure}.`);
  write();
}
driver.close();
const files = write();
console.log(`\nWritten: ${files.join(", ")}`);
for (const line of [...missing, ...[...reports.values()].flatMap((report) => report.missing)]) console.log(`  ${line}`);
const wrong = wrongSections(currentReport());
if (wrong.length > 0) console.log(`\nWRONG ANSWERS: ${wrong.join("; ")}`);
process.exit(reports.size === 0 || wrong.length > 0 ? 1 : 0);

/** Runs with the machine's GPU, or, if Chromium has none, with its software adapter. */
async function inChromium(options: HomeOptions): Promise<Outcome> {
  const executable = findChromium();
  if (executable === null) return { report: null, failure: "there is no Chromium; CHROME_PATH names one" };
  const adapterName = values.adapter ?? process.env.CHORUS_ADAPTER;
  const adapters: Adapter[] =
    adapterName === "real" || adapterName === "software" ? [adapterName] : ["real", "software"];
  let outcome: Outcome = { report: null, failure: null };
  for (const adapter of adapters) {
    const profile = mkdtempSync(join(tmpdir(), "chorus-gpu-bench-"));
    const flags = [
      ...testFlags(adapter),
      "--headless",
      "--remote-debugging-port=0",
      "--no-first-run",
      "--disable-background-networking",
      // Otherwise its timestamps are rounded to 0.1 ms.
      "--enable-webgpu-developer-features",
      `--user-data-dir=${profile}`,
    ];
    const page = `${driver.url}lab/gpu/page.html?${new URLSearchParams({ options: JSON.stringify(options) })}`;
    outcome = await driver.run(executable, [...flags, page], {
      minutes: options.minutes,
      onReport: listenTo("chromium"),
    });
    rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    if (outcome.report !== null) break;
    console.log(`  on the ${adapter} adapter: ${outcome.failure}`);
  }
  return outcome;
}

function findChromium(): string | null {
  const { CHROME_PATH, CHORUS_CHROMIUM, PATH = "" } = process.env;
  const names = ["google-chrome", "google-chrome-stable", "chromium", "chromium-browser"];
  const found = PATH.split(delimiter).flatMap((place) => names.map((name) => join(place, name)));
  return [CHROME_PATH, CHORUS_CHROMIUM, ...found].find((path) => path && existsSync(path)) ?? null;
}

async function inNode(options: HomeOptions): Promise<Outcome> {
  const dawn = process.env.CHORUS_DAWN ?? findDawn();
  if (!dawn) return { report: null, failure: "there is no Dawn; CHORUS_DAWN names its module" };
  const { CHORUS_VULKAN: driverFile } = process.env;
  const env = driverFile ? { VK_DRIVER_FILES: driverFile } : {};
  const args = [join(folder, "node-home.js"), driver.url, dawn, JSON.stringify(options)];
  return driver.run(process.execPath, args, { minutes: options.minutes, env, onReport: listenTo("node") });
}

/** Returns the path of Dawn, from NODE_PATH or a folder above. */
function findDawn(): string | null {
  try {
    return pathToFileURL(createRequire(import.meta.url).resolve("webgpu")).href;
  } catch {
    return null;
  }
}

function listenTo(name: HomeName): (said: Said) => void {
  let now = "";
  return (said) => {
    if (said.kind === "report") {
      reports.set(name, said.report);
      write();
    }
    // The part alone: the rest of the line changes with each round.
    const part = said.kind === "now" ? said.what.split(": ").slice(0, 2).join(": ") : now;
    if (part !== now) console.log(`  ${((performance.now() - startMs) / 1000).toFixed(0).padStart(4)} s  ${part}`);
    now = part;
  };
}

/** Writes the report after each part, so that measurements are kept however the run ends. */
function write(): string[] {
  const report = currentReport();
  const out = resolve(values.out);
  mkdirSync(out, { recursive: true });
  const name = values.name ?? nameOf(report);
  const texts = { md: gpuReportMarkdown(report), json: `${JSON.stringify(report, null, 1)}\n` };
  return Object.entries(texts).map(([ending, text]) => {
    const path = join(out, `${name}.${ending}`);
    writeFileSync(path, text);
    return path;
  });
}

function currentReport(): GpuReport {
  return {
    version,
    command: `npm run bench -- gpu${words && ` ${words}`}`,
    startedAt,
    machine: `${cpus()[0]?.model ?? "unknown"}, ${cpus().length} threads`,
    minutes,
    homes: [...reports.values()],
    missing,
  };
}

function nameOf({ homes }: GpuReport): string {
  const adapter = homes[0]?.adapter.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-") ?? "none";
  return `gpu-${adapter.slice(0, 40).replace(/^-|-$/g, "")}`;
}

function readOptions() {
  try {
    return parseArgs({
      options: {
        minutes: { type: "string", default: "10" },
        models: { type: "string" },
        sequences: { type: "string" },
        parts: { type: "string" },
        homes: { type: "string", default: HOME_NAMES.join(",") },
        adapter: { type: "string" },
        asHardware: { type: "boolean", default: false },
        out: { type: "string", default: "." },
        name: { type: "string" },
      },
    }).values;
  } catch (error) {
    // An error in the command line: a stack would not help.
    console.error((error as Error).message);
    process.exit(1);
  }
}
