// npm run bench -- loop: what a step costs in the engine's worker. JavaScript alone, in Node, on a GPU that computes nothing;
// then a browser's worker while it decodes: its thread's processor time, and by part a profile, whose samples are counted by the
// file that they are in. Writes docs/benchmarks/loop.md between two comments.

import { existsSync } from "node:fs";
import { join, resolve as absolute } from "node:path";

import { adapter } from "../../tools/browsers/chromium-flags.mjs";
import { launchChromium } from "../../tools/launch-chromium.mjs";
import { root } from "../../tools/run-command.mjs";
import { processId } from "./gpu-process.mjs";
import { loadModule } from "./load-module.mjs";
import { threadCpuMs } from "./thread-cpu.mjs";
import { workerCalls } from "./worker-calls.mjs";
import { writeMeasured } from "./write-measured.mjs";

const REPORT = "docs/benchmarks/loop.md";
const MODEL = "/models/chorus-chat/";
const SAMPLING_US = 50;
const SEQUENCES = [1, 8, 16];
/** The first that knows a function or its file, from the innermost one outwards, has its time. */
const PARTS = /** @type {const} */ ([
  ["submit", / submit /],
  ["post", / postMessage |comlink|engine\.worker/],
  ["write", /gpu\/step-buffer|rule-table/],
  ["read", /gpu\/readback|gpu-runner\.ts#result| mapAsync /],
  ["encode", /gpu\/gpu-runner|gpu\/compiled-graph|gpu\/operations|gpu\/sampler|gpu\/timestamps|gpu\/kernel/],
  ["plan", /engine\/scheduling|engine\/cache|core\/step-planner|engine\/drafting/],
  ["detokenise", /engine\/text|files\/tokenizer/],
  ["chunks", /src\/api|host\/open-request/],
  ["reports", /core\/reports|engine\/metrics|host\/telemetry|host\/status-line/],
  ["engine", /src\/engine|src\/host/],
]);

/** @typedef {{ sequences: number, steps: number, usByPart: Map<string, number>, threadMs: number | null }} Measured */
/** @typedef {import("../costs/loop-cost.ts").LoopCost} LoopCost */

/** @param {string} executablePath @param {{ rounds?: string, against?: string }} options */
export async function benchLoop(executablePath, { rounds = "3", against }) {
  if (against !== undefined && !existsSync(join(against, "vite.config.ts"))) {
    throw new Error(`--against ${against}: there is no checkout of Chorus in this folder.`);
  }
  const { createServer } = await import("vite");
  const folders = against === undefined ? [root] : [absolute(against), root];
  const alone = await measureAlone(folders, Number(rounds));
  const servers = await Promise.all(
    folders.map(async (folder) => {
      const server = await createServer({ root: folder, configFile: `${folder}/vite.config.ts`, logLevel: "warn" });
      return server.listen();
    }),
  );
  /** @type {Measured[][]} by folder */
  const all = folders.map(() => []);
  try {
    for (let round = 0; round < Number(rounds); round++) {
      for (const [i, server] of servers.entries()) {
        for (const sequences of SEQUENCES) {
          const measured = await measure(executablePath, server.resolvedUrls?.local[0] ?? "", sequences);
          all[i]?.push(measured);
          console.log(folders[i], sequences, totalOf(measured).toFixed(3), JSON.stringify(msOf(measured)));
        }
      }
    }
  } finally {
    await Promise.all(servers.map((server) => server.close()));
  }
  const { markdownTable } = await loadModule("lab/report/table.ts");
  const { medianOf } = await loadModule("lab/statistics.ts");
  const write = { medianOf, table: (/** @type {any[]} */ ...given) => markdownTable(...given).join("\n") };
  writeMeasured(REPORT, `${describeAlone(alone, write)}\n\n${describe(all, write)}`);
}

/** @param {string[]} folders @param {number} rounds @returns {Promise<LoopCost[][]>} by folder */
async function measureAlone(folders, rounds) {
  const { build } = await import("vite");
  const entry = join(root, "lab", "costs", "loop-cost.ts");
  const programs = [];
  for (const [i, folder] of folders.entries()) {
    const outDir = join(root, ".chorus", "bench-loop", String(i));
    // An older checkout lacks the benchmark, so this one's imports that one's engine.
    const engineOf = {
      name: "engine-of",
      enforce: /** @type {const} */ ("pre"),
      resolveId: (/** @type {string} */ source, /** @type {string | undefined} */ importer) =>
        importer === entry && source.startsWith("../../") ? join(folder, source.slice(6)) : null,
    };
    const output = { entryFileNames: "[name].mjs" };
    await build({
      root: folder,
      configFile: false,
      publicDir: false,
      logLevel: "error",
      plugins: [engineOf],
      ssr: { noExternal: true },
      build: { target: "esnext", outDir, emptyOutDir: true, ssr: entry, rolldownOptions: { output } },
    });
    programs.push(await import(join(outDir, "loop-cost.mjs")));
  }
  /** @type {LoopCost[][]} */
  const all = folders.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const sequences of SEQUENCES) {
      for (const isWatched of [false, true]) {
        for (const [i, { measureLoopCost }] of programs.entries()) {
          all[i]?.push(await measureLoopCost(join(root, "public", MODEL), sequences, isWatched));
        }
      }
    }
  }
  return all;
}

/** @param {string} executablePath @param {string} url @param {number} sequences @returns {Promise<Measured>} */
async function measure(executablePath, url, sequences) {
  const browser = await launchChromium(executablePath);
  try {
    const page = await browser.newPage();
    const session = await page.context().newCDPSession(page);
    let engineWorker = "";
    session.on("Target.attachedToTarget", ({ sessionId, targetInfo }) => {
      if (targetInfo.url.includes("engine.worker")) engineWorker = sessionId;
    });
    await session.send("Target.setAutoAttach", { autoAttach: true, waitForDebuggerOnStart: false, flatten: false });
    await page.goto(`${url}models/chorus-chat/config.json`);
    const engine = await page.evaluateHandle(async (model) => {
      const library = new URL("/src/index.ts", location.href).href;
      const { createEngine } = /** @type {typeof import("../../src/index.ts")} */ (await import(library));
      const kernels = { missing: 0 };
      const opened = await createEngine({
        model,
        backend: "webgpu",
        onProgress: ({ stage, done, total }) => {
          if (stage === "kernels") kernels.missing = total - done;
        },
      });
      while (kernels.missing > 0) await new Promise((resolve) => setTimeout(resolve, 50));
      return opened;
    }, MODEL);
    const decode = (/** @type {number} */ tokens) =>
      engine.evaluate(
        async (one, [count, max_tokens]) => {
          let steps = 0;
          const stop = one.on("step", () => void steps++);
          const answers = Array.from({ length: count }, async (_, i) => {
            const prompt = `Once ${i} upon a time`;
            const params = { prompt, max_tokens, ignore_eos: true, temperature: 1, top_k: 0, top_p: 1 };
            for await (const chunk of await one.completions.create({ ...params, stream: true })) void chunk;
          });
          await Promise.all(answers);
          stop();
          return steps;
        },
        /** @type {const} */ ([sequences, tokens]),
      );
    await decode(100);
    const pid = (await processId(browser, "browser")) ?? undefined;
    const workerMs = () => threadCpuMs(pid, "DedicatedWorker");
    const beforeMs = workerMs();
    const stepsAlone = await decode(300);
    const afterMs = workerMs();
    const threadMs = beforeMs === null || afterMs === null ? null : (afterMs - beforeMs) / stepsAlone;
    if (engineWorker === "") throw new Error("The engine has no worker.");
    const call = workerCalls(session);
    await call(engineWorker, "Profiler.enable");
    await call(engineWorker, "Profiler.setSamplingInterval", { interval: SAMPLING_US });
    await call(engineWorker, "Profiler.start");
    const steps = await decode(300);
    const { profile } = await call(engineWorker, "Profiler.stop");
    return { sequences, steps, usByPart: timeByPart(profile), threadMs };
  } finally {
    await browser.close();
  }
}

/**
 * @typedef {{ id: number, children?: number[], callFrame: { url: string, functionName: string } }} ProfileNode
 * @param {{ nodes: ProfileNode[], samples?: number[], timeDeltas?: number[] }} profile
 */
function timeByPart({ nodes, samples = [], timeDeltas = [] }) {
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])));
  const names = new Map(nodes.map(({ id, callFrame: { url, functionName } }) => [id, `${url} ${functionName} `]));
  const partOf = (/** @type {number} */ leaf) => {
    const own = names.get(leaf) ?? "";
    if (/\((idle|program|root)\)/.test(own)) return null;
    if (own.includes("(garbage collector)")) return "garbage collection";
    for (let id = /** @type {number | undefined} */ (leaf); id !== undefined; id = parents.get(id)) {
      const part = PARTS.find(([, files]) => files.test(names.get(id ?? 0) ?? ""));
      if (part) return part[0];
    }
    return "other";
  };
  /** @type {Map<string, number>} */
  const usByPart = new Map();
  for (const [i, id] of samples.entries()) {
    const part = partOf(id);
    if (part) usByPart.set(part, (usByPart.get(part) ?? 0) + (timeDeltas[i] ?? 0));
  }
  return usByPart;
}

/** @param {Measured} measured */
function msOf({ steps, usByPart }) {
  return Object.fromEntries([...usByPart].map(([part, us]) => [part, Number((us / 1000 / steps).toFixed(4))]));
}

/** @param {Measured} measured */
function totalOf(measured) {
  return Object.values(msOf(measured)).reduce((sum, ms) => sum + ms, 0);
}

/** @typedef {{ medianOf: (values: number[]) => number, table: (head: string[], rows: string[][]) => string }} Write */

/** @param {LoopCost[][]} all by folder: before, where there is one, and now @param {Write} write */
function describeAlone(all, { medianOf, table }) {
  const names = all.length === 1 ? ["now"] : ["before", "now"];
  const head = ["at once", "the page listens", ...names, ...names.map((name) => `bytes, ${name}`)];
  const rows = SEQUENCES.flatMap((sequences) =>
    [false, true].map((isWatched) => {
      const own = all.map((costs) =>
        costs.filter((cost) => cost.sequences === sequences && cost.isWatched === isWatched),
      );
      const times = own.map((costs) => `${medianOf(costs.map(({ cpuUs }) => cpuUs)).toFixed(0)} µs`);
      const bytes = own.map((costs) => medianOf(costs.map(({ messageBytes }) => messageBytes)).toFixed(0));
      return [String(sequences), isWatched ? "to steps" : "no", ...times, ...bytes];
    }),
  );
  const calls = Object.entries(all.at(-1)?.[0]?.calls ?? {}).map(([name, count]) => `${name} ${count.toFixed(1)}`);
  return [
    `JavaScript alone: processor time a step in Node ${process.versions.node}, on a GPU that computes nothing, and the message's bytes; the median of ${(all[0]?.length ?? 0) / SEQUENCES.length / 2} runs by turns.`,
    table(head, rows),
    `Calls of WebGPU in a step of one sequence: ${calls.join(", ")}.`,
  ].join("\n\n");
}

/** @param {Measured[][]} all by folder: before, where there is one, and now @param {Write} write */
function describe(all, { medianOf, table }) {
  const parts = [...PARTS.map(([part]) => part), "other", "garbage collection"];
  const columns = SEQUENCES.flatMap((sequences) => all.map((own) => own.filter((one) => one.sequences === sequences)));
  const names = all.length === 1 ? ["now"] : ["before", "now"];
  const head = ["part", ...SEQUENCES.flatMap((sequences) => names.map((name) => `${sequences} at once, ${name}`))];
  const row = (/** @type {string} */ name, /** @type {(one: Measured) => number} */ pick) => [
    name,
    ...columns.map((own) => medianOf(own.map(pick)).toFixed(3)),
  ];
  const rows = [
    ...parts.map((part) => row(part, (one) => msOf(one)[part] ?? 0)),
    row("all", totalOf),
    row("thread", ({ threadMs }) => threadMs ?? NaN),
  ];
  const adapterName = adapter === "software" ? "Chromium on SwiftShader" : "Chromium on the machine's GPU";
  return [
    `${adapterName}, the embedded model, free draws, the page listens to the steps. Milliseconds a step, the median of ${columns[0]?.length ?? 0} runs by turns.`,
    table(head, rows),
  ].join("\n\n");
}
