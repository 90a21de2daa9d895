// Prepares the model, compares the engines and writes docs/benchmarks/peers.*. peers.mjs installs and builds first.

import { execFileSync } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";

import { printTable } from "../report/table.ts";
import type { Adapter } from "../../tools/browsers/chromium-flags.mjs";
import { root } from "../../tools/run-command.mjs";
import type { Place } from "./contenders.ts";
import { compare } from "./compare.ts";
import { serveFolders } from "./file-server.ts";
import { MODEL_NAMES, prepareModel } from "./prepare-model.ts";
import { LOADS_HEAD, loadRows, type PeerRun, renderReport } from "./report.ts";

interface RunOptions {
  readonly size: string;
  readonly isQuick: boolean;
  readonly rounds: number | null;
  readonly place: Place;
  readonly adapter: Adapter;
  /** The adapter's name in the report; null for the browser's. */
  readonly adapterName: string | null;
  readonly executablePath: string;
  /** Versions of the peers, by package. */
  readonly versions: Readonly<Record<string, string>>;
}

const WORK_FOLDER = join(root, ".chorus", "peers");
const REPORT = join(root, "docs", "benchmarks", "peers");
const PEERS_FOLDER = join(root, "lab/peers");

export async function runComparison(options: RunOptions): Promise<void> {
  const { size, isQuick, rounds, place, adapter, adapterName, executablePath, versions } = options;
  if (!MODEL_NAMES.includes(size)) throw new Error(`--size ${size}: known are ${MODEL_NAMES.join(", ")}.`);
  const say = (line: string) => console.log(line);
  const model = await prepareModel(size, WORK_FOLDER, say);
  const server = await serveFolders(
    new Map([
      ["engines", join(PEERS_FOLDER, "engines")],
      ["packages", join(PEERS_FOLDER, "node_modules")],
      ["chorus", join(WORK_FOLDER, "lib")],
      ["model", model.folder],
    ]),
  );
  try {
    const loadBefore = loadNow();
    const comparison = await compare({ executablePath, place, adapter, url: server.url, model, isQuick, rounds, say });
    const run: PeerRun = {
      ...comparison,
      adapter: adapterName ?? comparison.adapter,
      date: new Date().toISOString().slice(0, 10),
      commit: git("rev-parse", "--short", "HEAD"),
      cpu: `${cpus()[0]?.model ?? "unknown"}, ${cpus().length} threads`,
      loadBefore,
      loadAfter: loadNow(),
      versions,
      model: { name: size, numParameters: model.numParameters },
      isQuick,
    };
    printTable(`${size} on ${run.adapter}`, LOADS_HEAD, loadRows(run));
    await addToReport(run);
    say(`Written: docs/benchmarks/peers.json and peers.md`);
  } finally {
    server.close();
  }
}

/** Returns the load average of a minute: 0 to 1 if nothing else runs. 0 on Windows. */
function loadNow(): number {
  return Number((loadavg()[0] ?? 0).toFixed(1));
}

/** Adds a run to the report, which keeps the last one of each model on each adapter. */
async function addToReport(run: PeerRun): Promise<void> {
  await mkdir(join(root, "docs", "benchmarks"), { recursive: true });
  const before = await readFile(`${REPORT}.json`, "utf8").then(
    (text) => (JSON.parse(text) as { runs: PeerRun[] }).runs,
    () => [],
  );
  const others = before.filter(({ adapter, model }) => adapter !== run.adapter || model.name !== run.model.name);
  const runs = [...others, run];
  await writeFile(`${REPORT}.json`, `${JSON.stringify({ runs }, null, 2)}\n`);
  await writeFile(`${REPORT}.md`, renderReport(runs));
}

function git(...words: string[]): string {
  try {
    return execFileSync("git", words, { cwd: root, encoding: "utf8", timeout: 10_000 }).trim();
  } catch {
    return "unknown";
  }
}
