import { runnerImport } from "vite";

import { root } from "../../tools/run-command.mjs";

/** Imports a TypeScript file of the project. @param {string} path such as "lab/statistics.ts" @returns {Promise<any>} */
export async function loadModule(path) {
  return (await runnerImport(`./${path}`, { configFile: false, root })).module;
}
