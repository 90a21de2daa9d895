// The library: dist/lib/chorus.js with its worker beside it, everything bundled in, so that a page can import it from
// there as it is. Beside it are what other people's interfaces need (ai-sdk.js, language-model.js), and the server with its command. Runs after the app's build, whose dist/ it adds to; `tsc -p tsconfig.lib.json` then adds the types.

import { defineConfig } from "vite";

import { wgslWithoutComments } from "./tools/wgsl-plugin.ts";

// Beside chorus.js, as a page that imports it by its path expects. The engine is an AsyncDisposable.
const typesEntry = (types: string) =>
  `/// <reference lib="esnext.disposable" />\nexport * from "./types/${types}.js";\n`;

const ENTRIES = {
  chorus: "index",
  "ai-sdk": "clients/ai-sdk",
  "language-model": "clients/language-model",
  serve: "serve/serve",
  "serve-command": "serve-command",
};

export default defineConfig({
  base: "./",
  publicDir: false,
  plugins: [
    wgslWithoutComments(),
    {
      name: "types-entry",
      generateBundle() {
        for (const [name, types] of Object.entries(ENTRIES)) {
          this.emitFile({ type: "asset", fileName: `${name}.d.ts`, source: typesEntry(types) });
        }
      },
    },
  ],
  worker: { format: "es", plugins: () => [wgslWithoutComments()] },
  build: {
    target: "esnext",
    outDir: "dist/lib",
    lib: {
      entry: Object.fromEntries(Object.entries(ENTRIES).map(([name, path]) => [name, `src/${path}.ts`])),
      formats: ["es"],
    },
    rolldownOptions: { external: /^node:/ },
  },
});
