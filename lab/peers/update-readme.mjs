import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { root, run } from "../../tools/run-command.mjs";

/** Rewrites README's figure from the runs that docs/benchmarks/peers.json has. */
export async function updateReadme(/** @type {{ size?: string }} */ { size = "small" }) {
  const { runnerImport } = await import("vite");
  const imported = await runnerImport("./lab/peers/readme-figure.ts", { configFile: false, root });
  const { putIntoReadme, readmeFigure, SVG_PATH } = /** @type {typeof import("./readme-figure.ts")} */ (
    imported.module
  );
  const { runs } = JSON.parse(readFileSync(join(root, "docs/benchmarks/peers.json"), "utf8"));
  const { markdown, svg } = readmeFigure(runs, size);
  const path = join(root, "README.md");
  writeFileSync(path, putIntoReadme(readFileSync(path, "utf8"), markdown));
  writeFileSync(join(root, SVG_PATH), svg);
  // Tables are padded there.
  return run("oxfmt README.md", { output: "if-failed" });
}
