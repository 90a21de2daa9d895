// The library: dist/lib/chorus.js with its worker beside it, everything bundled in, so that a page can import it from
// there as it is. Runs after the app's build, whose dist/ it adds to; `tsc -p tsconfig.lib.json` then adds the types.

import { defineConfig } from "vite";

import { wgslWithoutComments } from "./tools/wgsl-plugin.ts";

// Beside chorus.js, as a page that imports it by its path expects. The engine is an AsyncDisposable.
const typesEntry = '/// <reference lib="esnext.disposable" />\nexport * from "./types/index.js";\n';

export default defineConfig({
  base: "./",
  publicDir: false,
  plugins: [
    wgslWithoutComments(),
    {
      name: "types-entry",
      generateBundle() {
        this.emitFile({ type: "asset", fileName: "chorus.d.ts", source: typesEntry });
      },
    },
  ],
  worker: { format: "es", plugins: () => [wgslWithoutComments()] },
  build: {
    target: "esnext",
    outDir: "dist/lib",
    lib: { entry: "src/index.ts", formats: ["es"], fileName: "chorus" },
  },
});
