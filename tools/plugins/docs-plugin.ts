import { resolve } from "node:path";
import type { Plugin, ResolvedConfig } from "vite";

/** Builds the documents into the folder docs/ of the build. */
export function documents(): Plugin {
  let config: ResolvedConfig;
  return {
    name: "documents",
    apply: "build",
    configResolved(resolved) {
      config = resolved;
    },
    async closeBundle() {
      // Tests build a page of their own with this config.
      if (config.build.rolldownOptions.input !== undefined) return;
      // Loaded here: other commands read this config, too.
      const { buildDocs } = await import("../docs/build-docs.ts");
      await buildDocs(resolve(config.root, config.build.outDir, "docs"));
    },
  };
}
