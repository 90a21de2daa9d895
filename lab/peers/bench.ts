// npm run bench -- peers: Chorus beside transformers.js and wllama, on the same weights, in one browser. Installs the peers, builds
// the library, prepares the model, compares the engines and writes docs/benchmarks/peers.*.

import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";

import { ensureChromium } from "../../tools/browsers/find-chromium.mjs";
import { installFolder } from "../../tools/browsers/install-folder.mjs";
import type { Adapter } from "../../tools/browsers/chromium-flags.mjs";
import { root, run as runCommand } from "../../tools/run-command.mjs";
import type { OptionsOf } from "../runs/bench-parts.ts";
import { compare } from "./compare.ts";
import { serveFolders } from "./file-server.ts";
import { prepareModel } from "./prepare-model.ts";
import type { Quantisation } from "./quantise.ts";
import { readRuns, renderRuns, REPORT, type PeerRun, writeRuns } from "./report.ts";

const WORK_FOLDER = ".chorus/peers";
const PEERS_FOLDER = join(root, "lab/peers");

/** Returns whether the library could be built. */
export async function run({ size = "small", backend, rounds, ...options }: OptionsOf<"peers">): Promise<boolean> {
  const { quick: isQuick = false } = options;
  const gguf = options.gguf as Quantisation | undefined;
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
  const model = await prepareModel(size, join(root, WORK_FOLDER), gguf, say);
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
      gguf,
      modelBytes: () => server.sentBytes.get("model") ?? 0,
      isQuick,
      rounds: rounds === undefined ? null : Number(rounds),
      say,
    });
    const measured: PeerRun = {
      ...comparison,
      adapter: options.as ?? comparison.adapter,
      date: new Date().toISOString().slice(0, 10),
      commit: git("rev-parse", "--short", "HEAD"),
      cpu: `${cpus()[0]?.model ?? "unknown"}, ${cpus().length} threads`,
      loadBefore,
      loadAfter: loadNow(),
      versions,
      model: { name: gguf ? `${size}, ${gguf}` : size, numParameters: model.numParameters },
      isQuick,
    };
    say(`\n${renderRuns([measured])}`);
    addToReport(measured);
    say(`Written: ${REPORT}.json and peers.md`);
    return true;
  } finally {
    server.close();
  }
}

/** Returns the load average of a minute: 0 to 1 if nothing else runs. 0 on Windows. */
function loadNow(): number {
  return Number((loadavg()[0] ?? 0).toFixed(1));
}

/** Adds a run to the report, which keeps the last one of each model on each adapter. */
function addToReport(measured: PeerRun): void {
  const others = readRuns().filter(
    ({ adapter, model }) => adapter !== measured.adapter || model.name !== measured.model.name,
  );
  const runs = [...others, measured];
  writeFileSync(join(root, `${REPORT}.json`), `${JSON.stringify({ runs }, null, 2)}\n`);
  writeRuns(runs);
}

function git(...words: string[]): string {
  try {
    return execFileSync("git", words, { cwd: root, encoding: "utf8", timeout: 10_000 }).trim();
  } catch {
    return "unknown";
  }
}
