// The app: static files that any host can serve, under any path, without special headers.

import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

export default defineConfig({
  base: "./",
  // A missing file is a 404 here too, as on a static host, and not index.html.
  appType: "mpa",
  plugins: [react()],
  worker: { format: "es" },
  build: { target: "esnext" },
});
