// The app: static files that any host can serve, under any path, without special headers.

import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

import { EMBEDDED_MODEL } from "./src/app/state/models/embedded-model.ts";
import { fieldHelp } from "./tools/plugins/field-help-plugin.ts";
import { plainPreview } from "./tools/plugins/plain-preview-plugin.ts";
import { securityPolicy } from "./tools/plugins/security-policy-plugin.ts";
import { serviceWorker } from "./tools/plugins/service-worker-plugin.ts";
import { wgslWithoutComments } from "./tools/plugins/wgsl-plugin.ts";

/** The app, its icons, and of the models the embedded one. Not the documents and late libraries: a first visit loads none. */
const isNeededOffline = (path: string) =>
  !/^(?:lib|docs|late)\//.test(path) &&
  !path.endsWith(".md") &&
  (!path.startsWith("models/") || path.startsWith(EMBEDDED_MODEL));

const ISOLATION = { "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "credentialless" };

/** A build is one for people, whatever the shell says: with NODE_ENV=development it would have React's development build. */
const forPeople: Plugin = {
  name: "for-people",
  apply: "build",
  config: () => void (process.env.NODE_ENV = "production"),
};

/** Libraries that few answers need have a folder of their own. */
const folderOf = (names: readonly string[]) =>
  names.some((name) => /katex|highlight\.js|lowlight|pdf(?:js|\.worker)|\.bcmap/i.test(name)) ? "late" : "assets";

/** Every browser with WebAssembly's vectors reads WOFF2. */
const oneFontFormat: Plugin = {
  name: "one-font-format",
  enforce: "pre",
  transform: (code, id) =>
    id.endsWith("katex.min.css") ? code.replaceAll(/,url\([^)]*\.(?:woff|ttf)\) format\("[^"]*"\)/g, "") : null,
};

/** A page's or a worker's first imports are one file: cut by their other users, they would be eighty. */
const INITIAL = { name: "app", tags: ["$initial" as const], includeDependenciesRecursively: false };

export default defineConfig({
  base: "./",
  // A missing file is a 404 here too, as on a static host, and not index.html.
  appType: "mpa",
  // Threads share memory on a page that is isolated from others. Any other host gets the same from the service worker.
  server: { headers: ISOLATION },
  preview: { headers: ISOLATION },
  plugins: [
    forPeople,
    oneFontFormat,
    fieldHelp(),
    react(),
    tailwindcss(),
    wgslWithoutComments(),
    securityPolicy(),
    serviceWorker(isNeededOffline),
    plainPreview(),
  ],
  worker: {
    format: "es",
    plugins: () => [wgslWithoutComments()],
    rolldownOptions: { output: { codeSplitting: { groups: [INITIAL] } } },
  },
  build: {
    target: "esnext",
    cssTarget: ["chrome113", "firefox117", "safari17"],
    // The policy allows no fonts in addresses.
    assetsInlineLimit: (path) => (path.endsWith(".woff2") ? false : undefined),
    rolldownOptions: {
      output: {
        codeSplitting: { groups: [INITIAL] },
        // The service worker keeps what is in docs/ and late/ once it was visited.
        assetFileNames: ({ names, originalFileNames }) =>
          // Some hosts don't know .mjs.
          `${originalFileNames.some((path) => /^docs\/|\.md$/.test(path)) ? "docs" : folderOf(names)}/[name]-[hash]${names.some((name) => name.endsWith(".mjs")) ? ".js" : "[extname]"}`,
        chunkFileNames: ({ moduleIds }) => `${folderOf(moduleIds)}/[name]-[hash].js`,
      },
    },
  },
});
