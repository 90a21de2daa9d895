import { createServer } from "vite";

import { root } from "../../tools/run-command.mjs";

/** @type {Promise<import("vite").ViteDevServer> | undefined} It listens nowhere. Modules may import others as long as it is there. */
let server;

/** Imports a TypeScript file of the project. @param {string} path such as "lab/statistics.ts" @returns {Promise<any>} */
export async function loadModule(path) {
  server ??= createServer({
    root,
    configFile: false,
    appType: "custom",
    logLevel: "error",
    optimizeDeps: { noDiscovery: true },
    server: { middlewareMode: true, watch: null, hmr: false, ws: false },
  });
  return (await server).ssrLoadModule(`/${path}`);
}
