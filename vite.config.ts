// The app: static files that any host can serve, under any path, without special headers.

import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

import { EMBEDDED_MODEL } from "./src/state/page-options.ts";
import { serviceWorker } from "./tools/service-worker-plugin.ts";
import { wgslWithoutComments } from "./tools/wgsl-plugin.ts";

/** The app, its icons, and of the models the embedded one. */
const isNeededOffline = (path: string) =>
  !path.startsWith("lib/") && !path.endsWith(".md") && (!path.startsWith("models/") || path.startsWith(EMBEDDED_MODEL));

export default defineConfig({
  base: "./",
  // A missing file is a 404 here too, as on a static host, and not index.html.
  appType: "mpa",
  plugins: [react(), wgslWithoutComments(), serviceWorker(isNeededOffline)],
  worker: { format: "es", plugins: () => [wgslWithoutComments()] },
  build: { target: "esnext" },
});
