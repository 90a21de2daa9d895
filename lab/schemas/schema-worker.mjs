// A thread that measures one schema after the other; bench-schemas.ts ends it when one takes too long.

import { parentPort, workerData } from "node:worker_threads";

import { loadModule } from "../runs/load-module.mjs";

const { SchemaMeter } = await loadModule("lab/schemas/measure-schema.ts");
const meter = new SchemaMeter(workerData);
parentPort?.postMessage(null);
parentPort?.on("message", (/** @type {import("./measure-schema.ts").SchemaCase} */ one) => {
  void meter.measure(one).then((/** @type {unknown} */ result) => parentPort?.postMessage(result));
});
