// The library: dist/lib/chorus.js with its workers beside it, everything bundled in, so that a page can import it from
// there as it is. Beside it are the Prompt API (language-model.js), and the server with its command. Runs after the app's build, whose dist/ it adds to; `tsc -p tsconfig.lib.json` then adds the types.

import { defineConfig } from "vite";

import { wgslWithoutComments } from "./tools/plugins/wgsl-plugin.ts";
import { workerFiles } from "./tools/plugins/worker-files-plugin.ts";

// Beside chorus.js, as a page that imports it by its path expects. The engine is an AsyncDisposable.
const typesEntry = (types: string) =>
  `/// <reference lib="esnext.disposable" />\nexport * from "./types/${types}.js";\n`;

/** Entries that users import by name. */
const EXPORTS = {
  chorus: "index",
  "language-model": "clients/language-model",
};

/** Entries that are run. */
const SERVERS = { serve: "server/serve-process", "serve-command": "server/serve-command" };

/** Workers: files that nobody imports. */
const WORKERS = {
  "engine.worker": "host/engine.worker",
  "engine.shared-worker": "host/engine.shared-worker",
  "models.worker": "host/models.worker",
  "text.worker": "host/text/text.worker",
  "grammar.worker": "grammar/grammar.worker",
  "helper.worker": "backends/cpu/threads/helper.worker",
};

/**
 * Without these a worker would begin with some thirty files, four deep. Each group has what the higher ones leave, and what its
 * own modules import: what everybody needs, what makes tokens of texts, and the rest of the engine. What the engine shares with
 * others belongs to the first, or they load the engine for it.
 */
const FEW_FILES = [
  {
    name: "shared",
    priority: 3,
    test: /\/src\/(protocol|threads|version\.ts|host\/text\/text-calls\.ts|files\/(packing|half)\.ts)\b|\/comlink\/|\/src\/engine\/(step-plan|sampling\/(sampling-params|logit-rules))\.ts/,
  },
  {
    name: "texts",
    priority: 2,
    test: /\/src\/api\/(?!bounded-template|chat-format|jinja-|render-chat|template-products|text-mask)|\/src\/files\/(tokenizer|json-fields)\.ts/,
  },
  {
    name: "engine",
    priority: 1,
    test: /\/src\/(engine|files|models)\/|\/src\/host\/(engine-host|models-host|remote-threads|platforms\/browser|loading\/open-gguf)\.ts/,
  },
];

export default defineConfig({
  base: "./",
  publicDir: false,
  plugins: [
    wgslWithoutComments(),
    workerFiles(),
    {
      name: "types-entry",
      generateBundle() {
        for (const [name, types] of Object.entries(EXPORTS)) {
          this.emitFile({ type: "asset", fileName: `${name}.d.ts`, source: typesEntry(types) });
        }
      },
    },
  ],
  build: {
    target: "esnext",
    outDir: "dist/lib",
    license: { fileName: "LICENSES.md" },
    lib: {
      entry: Object.fromEntries(
        Object.entries({ ...EXPORTS, ...SERVERS, ...WORKERS }).map(([name, path]) => [name, `src/${path}.ts`]),
      ),
      formats: ["es"],
    },
    rolldownOptions: {
      external: /^node:/,
      output: { codeSplitting: { groups: [...FEW_FILES] } },
    },
  },
});
