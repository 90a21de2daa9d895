// The app: static files that any host can serve, under any path, without special headers.

import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

import { EMBEDDED_MODEL } from "./src/app/state/models/embedded-model.ts";
import { documents } from "./tools/plugins/docs-plugin.ts";
import { plainWeights } from "./tools/plugins/plain-weights-plugin.ts";
import { securityPolicy } from "./tools/plugins/security-policy-plugin.ts";
import { serviceWorker } from "./tools/plugins/service-worker-plugin.ts";
import { wgslWithoutComments } from "./tools/plugins/wgsl-plugin.ts";

/** The app, its icons, and of the models the embedded one. Not the documents: a first visit loads none. */
const isNeededOffline = (path: string) =>
  !/^(?:lib|docs)\//.test(path) &&
  !path.endsWith(".md") &&
  (!path.startsWith("models/") || path.startsWith(EMBEDDED_MODEL));

/** The modules of the first page... */
const IN_THE_PAGE =
  /\/src\/(?:app\/(?:ui|state|remote)|client|protocol|recording)\/|\/node_modules\/(?:react|react-dom|scheduler|zustand|idb-keyval|comlink)\//;
/** ... without those that are loaded on demand: what a first visit does not show at once. */
const ON_DEMAND = [
  /\/ui\/batch\/(?:DockPanels|Timeline|Chart|Cache|Latency|draw-|timeline-|cell-|use-timeline|use-pointer|stamps)/,
  /\/ui\/(?:bench|branches|chat\/markdown|connections|duel|player|unsupported|words)\//,
  /\/ui\/(?:app\/UndoToast|components\/(?:VirtualList|CursorArea|PointerCard)|engine\/ServingNotice|demo\/Demo(?:View|Pane|Race))\b/,
  /\/ui\/chat\/(?:ContextMeter|SavedPromptsBody)\b/,
  /\/ui\/explain\/(?!ExplainButton)/,
  /\/ui\/history\/(?!ChatsButton)/,
  /\/ui\/models\/(?!ModelPicker)/,
  /\/ui\/settings\/(?!(?:AppSettings|PaneSettings|AnsweredBy)\.)/,
  /\/state\/(?:chat\/(?:branch-lines|context-meter|likelihoods|saved-prompts)|workspace\/export-chats)\b/,
  /\/state\/history\/(?!closed-chats?\.|words\.)/,
  /\/state\/(?:duel\/|player\/(?!handed-over))/,
  /\/app\/(?:remote\/(?!address|server-software)|service-worker\/page-api)/,
];
/** The library exports these, and the page imports the library: they are loaded with the player all the same. */
const RECORDINGS = /\/src\/recording\/(?:block-ledger|check-recording|chrome-trace|read-recording)\./;
const isNeededFirst = (id: string) => IN_THE_PAGE.test(id) && !ON_DEMAND.some((modules) => modules.test(id));

const ISOLATION = { "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "credentialless" };

/** A build is one for people, whatever the shell says: with NODE_ENV=development it would have React's development build. */
const forPeople: Plugin = {
  name: "for-people",
  apply: "build",
  config: () => void (process.env.NODE_ENV = "production"),
};

export default defineConfig({
  base: "./",
  // A missing file is a 404 here too, as on a static host, and not index.html.
  appType: "mpa",
  // Threads share memory on a page that is isolated from others. Any other host gets the same from the service worker.
  server: { headers: ISOLATION },
  preview: { headers: ISOLATION },
  plugins: [
    forPeople,
    react(),
    wgslWithoutComments(),
    securityPolicy(),
    documents(),
    serviceWorker(isNeededOffline),
    plainWeights(),
  ],
  worker: { format: "es", plugins: () => [wgslWithoutComments()] },
  build: {
    target: "esnext",
    // What the first page needs is one file: cut up by what else shares it, it is 2 kB larger.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: "recordings", test: RECORDINGS, priority: 1, includeDependenciesRecursively: false },
            { name: "app", test: isNeededFirst },
          ],
        },
      },
    },
  },
});
