// The app: static files that any host can serve, under any path, without special headers.

import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

import { EMBEDDED_MODEL } from "./src/state/models/model-choice.ts";
import { securityPolicy } from "./tools/security-policy-plugin.ts";
import { serviceWorker } from "./tools/service-worker-plugin.ts";
import { wgslWithoutComments } from "./tools/wgsl-plugin.ts";

/** The app, its icons, and of the models the embedded one. */
const isNeededOffline = (path: string) =>
  !path.startsWith("lib/") && !path.endsWith(".md") && (!path.startsWith("models/") || path.startsWith(EMBEDDED_MODEL));

/** Of the page's modules those that are not loaded on demand (the benchmark, the player, the duel, the demo, the models and servers to choose from, the
 * settings, what talks to servers, what a browser without WebGPU is shown). */
const isNeededFirst =
  /\/src\/(?:ui\/(?!bench\/|player\/|duel\/|unsupported\/|connections\/|demo\/Demo(?:View|Pane|Race)\b|models\/(?!ModelPicker)|settings\/(?!(?:AppSettings|PaneSettings|AnsweredBy)\.))|state\/(?!duel\/|player\/(?!handed-over))|client\/(?!(?:block-ledger|check-recording|chrome-trace|read-recording)\.|remote\/(?!address)|page-api)|protocol\/)|\/node_modules\/(?:react|react-dom|scheduler|zustand|marked|idb-keyval|comlink)\//;

const ISOLATION = { "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "credentialless" };

export default defineConfig({
  base: "./",
  // A missing file is a 404 here too, as on a static host, and not index.html.
  appType: "mpa",
  // Threads share memory on a page that is isolated from others. Any other host gets the same from the service worker.
  server: { headers: ISOLATION },
  preview: { headers: ISOLATION },
  plugins: [react(), wgslWithoutComments(), securityPolicy(), serviceWorker(isNeededOffline)],
  worker: { format: "es", plugins: () => [wgslWithoutComments()] },
  build: {
    target: "esnext",
    // What the first page needs is one file: cut up by what else shares it, it is 2 kB larger.
    rolldownOptions: {
      // The library exports these too, and the page imports the library: they are loaded with the player all the same.
      treeshake: { moduleSideEffects: [{ test: /\/src\/client\/(?:read|check)-recording\./, sideEffects: false }] },
      output: { codeSplitting: { groups: [{ name: "app", test: isNeededFirst }] } },
    },
  },
});
