// A home in Node, on Dawn: node node-home.js DRIVER DAWN OPTIONS

import { tuningOfProcess } from "../../src/host/platforms/node.ts";
import type { HomeOptions } from "./home.ts";
import { runHome } from "./report-to-driver.ts";

const [driver = "", dawn = "", options = "{}"] = process.argv.slice(2);
const { create, globals } = (await import(dawn)) as {
  create: (flags: readonly string[]) => GPU;
  globals: Record<string, unknown>;
};
Object.assign(globalThis, globals);
// The driver serves the fixtures, too.
const { fetch } = globalThis;
globalThis.fetch = (input, init) => fetch(typeof input === "string" ? new URL(input, driver) : input, init);

// Dawn's timestamps are coarse unless asked.
const gpu = create(["disable-dawn-features=timestamp_quantization"]);
const home = { name: "node", runtime: `Node ${process.version} on Dawn`, gpu, tuning: tuningOfProcess } as const;
await runHome(home, JSON.parse(options) as HomeOptions, "/said");
process.exit();
