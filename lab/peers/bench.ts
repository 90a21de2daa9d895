// npm run bench -- peers: Chorus beside transformers.js and wllama, on the same weights, in one browser. Installs the peers, builds
// the library, prepares the model, compares the engines and writes docs/benchmarks/peers.*.

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";

import { writeMeasured } from "../report/measured-part.ts";
import { printTable } from "../report/table.ts";
import { ensureChromium } from "../../tools/browsers/install-chromium.mjs";
import { installFolder } from "../../tools/browsers/install-folder.mjs";
import type { Adapter } from "../../tools/browsers/chromium-flags.mjs";
import { root, run as runCommand } from "../../tools/run-command.mjs";
import { compare } from "./compare.ts";
import { serveFolders } from "./file-server.ts";
import { prepareModel } from "./prepare-model.ts";
import { README_BEGIN, readmeFigure, SVG_PATH } from "./readme-figure.ts";
import { LOADS_HEAD, loadRows, type PeerRun, renderRuns } from "./report.ts";

/** Of the command line. */
interface Options {
  readonly size?: string;
  readonly backend?: string;
  readonly rounds?: string;
  readonly quick?: boolean;
  readonly adapter?: string;
  /** The adapter's name in the report. [the browser's] */
  readonly as?: string;
}

const WORK_FOLDER = ".chorus/peers";
const REPORT = "docs/benchmarks/peers";
const PEERS_FOLDER = join(root, "lab/peers");

/** Returns whether the library could be built. */
export async function benchPeers({
  size = "small",
  backend = "gpu",
  rounds,
  quick: isQuick = false,
  ...options
}: Options): Promise<boolean> {
  const place = backend === "cpu" ? "cpu" : "gpu";
  const adapter: Adapter = (options.adapter ?? process.env["CHORUS_ADAPTER"]) === "real" ? "real" : "software";
  const executablePath = await ensureChromium({ on: adapter });
  const { isInstalled, versions } = await installFolder(PEERS_FOLDER, "about 500 MB");
  if (!isInstalled) {
    throw new Error(
      "The peers could not be installed: npm's messages above say why. The comparison needs npm's registry once; " +
        "everything else of Chorus does not.",
    );
  }
  const say = (line: string) => console.log(line);
  say("Building the library…");
  const build = `vite build --config vite.lib.config.ts --outDir ${WORK_FOLDER}/lib`;
  if (!(await runCommand(build, { output: "if-failed" }))) return false;
  const model = await prepareModel(size, join(root, WORK_FOLDER), say);
  const server = await serveFolders(
    new Map([
      ["engines", join(PEERS_FOLDER, "engines")],
      ["packages", join(PEERS_FOLDER, "node_modules")],
      ["chorus", join(root, WORK_FOLDER, "lib")],
      ["model", model.folder],
    ]),
  );
  try {
    const loadBefore = loadNow();
    const comparison = await compare({
      executablePath,
      place,
      adapter,
      url: server.url,
      model,
      isQuick,
      rounds: rounds === undefined ? null : Number(rounds),
      say,
    });
    const run: PeerRun = {
      ...comparison,
      adapter: options.as ?? comparison.adapter,
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
    addToReport(run);
    say(`Written: ${REPORT}.json and peers.md`);
    return true;
  } finally {
    server.close();
  }
}

/** npm run bench -- readme: rewrites README's figure and peers.md from the runs that peers.json has. */
export function updateReadme({ size = "small" }: { size?: string }): Promise<boolean> {
  const runs = readRuns();
  const { markdown, svg } = readmeFigure(runs, size);
  writeMeasured(`${REPORT}.md`, renderRuns(runs));
  writeMeasured("README.md", markdown, README_BEGIN);
  writeFileSync(join(root, SVG_PATH), svg);
  // Tables are padded there.
  return runCommand("oxfmt README.md", { output: "if-failed" });
}

/** Returns the load average of a minute: 0 to 1 if nothing else runs. 0 on Windows. */
function loadNow(): number {
  return Number((loadavg()[0] ?? 0).toFixed(1));
}

function readRuns(): readonly PeerRun[] {
  return (JSON.parse(readFileSync(join(root, `${REPORT}.json`), "utf8")) as { runs: PeerRun[] }).runs;
}

/** Adds a run to the report, which keeps the last one of each model on each adapter. */
function addToReport(run: PeerRun): void {
  const others = readRuns().filter(({ adapter, model }) => adapter !== run.adapter || model.name !== run.model.name);
  const runs = [...others, run];
  writeFileSync(join(root, `${REPORT}.json`), `${JSON.stringify({ runs }, null, 2)}\n`);
  writeMeasured(`${REPORT}.md`, renderRuns(runs));
}

function git(...words: string[]): string {
  try {
    return execFileSync("git", words, { cwd: root, encoding: "utf8", timeout: 10_000 }).trim();
  } catch {
    return "unknown";
  }
}
