import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { root, run } from "../../tools/run-command.mjs";
import { loadModule } from "../runs/load-module.mjs";

/** Rewrites README's figure and peers.md from the runs that docs/benchmarks/peers.json has. */
export async function updateReadme(/** @type {{ size?: string }} */ { size = "small" }) {
  const { putIntoReadme, readmeFigure, SVG_PATH } = await loadModule("lab/peers/readme-figure.ts");
  const { runs } = JSON.parse(readFileSync(join(root, "docs/benchmarks/peers.json"), "utf8"));
  const { markdown, svg } = readmeFigure(runs, size);
  const { renderReport } = await loadModule("lab/peers/report.ts");
  writeFileSync(join(root, "docs/benchmarks/peers.md"), renderReport(runs));
  const path = join(root, "README.md");
  writeFileSync(path, putIntoReadme(readFileSync(path, "utf8"), markdown));
  writeFileSync(join(root, SVG_PATH), svg);
  // Tables are padded there.
  return run("oxfmt README.md", { output: "if-failed" });
}
