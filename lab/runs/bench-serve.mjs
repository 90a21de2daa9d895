// npm run bench -- serve: load on a server of OpenAI's API, from this process, as `vllm bench serve` makes it. Without --url it
// starts `npm run serve` with the embedded model in a process of its own. --soak MINUTES instead keeps many streams open, closes
// half of them in the middle of an answer, and looks for lost, doubled or leaked ones.

import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

import { root } from "../../tools/run-command.mjs";
import { endProcess } from "../../tools/time-limits.mjs";
import { loadModule } from "./load-module.mjs";

const STARTED_WITHIN_MS = 120_000;
const MEMORY_EVERY_MS = 5000;

/** @typedef {Partial<Record<"url" | "model" | "backend" | "requests" | "rate" | "concurrency" | "promptTokens" | "outputTokens" | "seed" | "soak" | "streams" | "apiKey", string | undefined>>} Options */

export async function benchServe(/** @type {Options} */ options) {
  const modules = {
    ...(await loadModule("lab/load/http-load.ts")),
    ...(await loadModule("lab/load/load.ts")),
    ...(await loadModule("lab/load/soak.ts")),
    ...(await loadModule("lab/load/serving-metrics.ts")),
    ...(await loadModule("lab/load/serving-report.ts")),
    ...(await loadModule("lab/seeded-random.ts")),
  };
  const server = options.url ? null : await startServer(options.model, options.backend);
  try {
    const base = (options.url ?? server?.url ?? "").replace(/\/+$/, "").replace(/\/v1$/, "");
    const apiKey = options.apiKey ?? null;
    const target = { baseUrl: `${base}/v1`, model: await servedModel(base, apiKey), apiKey };
    if (options.soak) await soakServer(modules, target, base, server?.process.pid ?? null, options);
    else await loadServer(modules, target, options);
  } finally {
    if (server) await endProcess(server.process);
  }
}

const bearer = (/** @type {string | null} */ key) =>
  /** @type {Record<string, string>} */ (key ? { authorization: `Bearer ${key}` } : {});

/** Returns the name of a server's first model. Throws an Error that says what it answered instead. */
export async function servedModel(/** @type {string} */ base, /** @type {string | null} */ apiKey) {
  const url = `${base}/v1/models`;
  const response = await fetch(url, { headers: bearer(apiKey) });
  if (response.status === 401) throw new Error(`${url} answered 401: give the server's key with --apiKey.`);
  const list = response.ok ? await response.json().catch(() => null) : null;
  const name = list?.data?.[0]?.id;
  if (typeof name !== "string") throw new Error(`${url} answered ${response.status}, without a list of models.`);
  return name;
}

async function loadServer(/** @type {any} */ modules, /** @type {any} */ target, /** @type {Options} */ options) {
  const { poissonArrivalsMs, readHttpStream, seededRandom, sendAll, servingMetrics, servingReport } = modules;
  const random = seededRandom(Number(options.seed ?? 1));
  const count = Number(options.requests ?? 64);
  const requestRate = options.rate && options.rate !== "inf" ? Number(options.rate) : Infinity;
  const maxConcurrency = options.concurrency ? Number(options.concurrency) : null;
  const words = Number(options.promptTokens ?? 32);
  const outputTokens = Number(options.outputTokens ?? 32);
  const requests = Array.from({ length: count }, () => ({ prompt: randomText(random, words), outputTokens }));
  const arrivalsMs = poissonArrivalsMs(count, requestRate, random);
  await readHttpStream(target, { prompt: randomText(random, words), outputTokens }); // warms up
  const send = async (/** @type {any} */ request, /** @type {number} */ queueMs) =>
    (await readHttpStream(target, request, queueMs)).record;
  const sent = await sendAll(requests, send, { arrivalsMs, maxConcurrency });
  const metrics = servingMetrics({ requestRate, maxConcurrency, ...sent, steps: [] });
  console.log(servingReport(metrics));
  for (const error of new Set(metrics.errors)) console.log(`Failed: ${error}`);
  if (metrics.failed > 0) process.exitCode = 1;
}

async function soakServer(
  /** @type {any} */ modules,
  /** @type {any} */ target,
  /** @type {string} */ base,
  /** @type {number | null} */ pid,
  /** @type {Options} */ options,
) {
  const { seededRandom, soak } = modules;
  const random = seededRandom(Number(options.seed ?? 1));
  const streams = Number(options.streams ?? 200);
  const outputTokens = Number(options.outputTokens ?? 48);
  const requests = Array.from({ length: 8 }, (_, i) => ({ prompt: randomText(random, 4 + 3 * i), outputTokens }));
  /** @type {number[]} */
  const memory = [];
  const watch = setInterval(() => {
    const mib = residentMiB(pid);
    if (mib !== null) memory.push(mib);
  }, MEMORY_EVERY_MS);
  const wrong = new Set();
  const durationMs = Number(options.soak) * 60_000;
  const onWrong = (/** @type {string} */ what) => wrong.add(what);
  const result = await soak({ target, requests, streams, durationMs, random, onWrong });
  clearInterval(watch);
  const after = await metricsAtRest(base, target.apiKey);
  const third = Math.floor(memory.length / 3);
  const most = (/** @type {number[]} */ values) => (values.length > 0 ? `${Math.max(...values)} MiB` : "unknown");
  console.log(`${streams} streams at once for ${(result.durationMs / 60_000).toFixed(1)} minutes, half closed in mid-answer:
  read to the end         ${result.finished}
  closed in mid-answer    ${result.closed}
  lost, doubled or mixed  ${result.wrong}
  tokens per second       ${((1000 * result.tokens) / result.durationMs).toFixed(0)}
  memory, by thirds       ${[0, 1, 2].map((i) => most(memory.slice(i * third, (i + 1) * third))).join(", ")}
  at the end              ${after.running} running, ${after.waiting} waiting, ${(100 * after.kvUse).toFixed(2)}% of the blocks in use`);
  for (const what of wrong) console.log(`  wrong: ${what}`);
  if (result.wrong > 0 || after.running + after.waiting + after.kvUse > 0) process.exitCode = 1;
}

/** Returns the server's gauges once it has noticed that all clients are gone. */
async function metricsAtRest(/** @type {string} */ base, /** @type {string | null} */ apiKey) {
  for (let tries = 0; ; tries++) {
    const text = await (await fetch(`${base}/metrics`, { headers: bearer(apiKey) })).text();
    const valueOf = (/** @type {string} */ name) =>
      Number(new RegExp(`^vllm:${name}(?:\\{[^}]*\\})? (\\S+)`, "m").exec(text)?.[1]);
    const [running, waiting, kvUse] = [
      valueOf("num_requests_running"),
      valueOf("num_requests_waiting"),
      valueOf("kv_cache_usage_perc"),
    ];
    if (running + waiting + kvUse === 0 || tries === 50) return { running, waiting, kvUse };
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Returns the memory of a process of this machine, if the system reports it (Linux). */
function residentMiB(/** @type {number | null} */ pid) {
  const path = `/proc/${pid}/status`;
  if (pid === null || !existsSync(path)) return null;
  const [, kib] = /VmRSS:\s+(\d+)/.exec(readFileSync(path, "utf8")) ?? [];
  return kib === undefined ? null : Math.round(Number(kib) / 1024);
}

/** Returns short words, most of which are one token. */
function randomText(/** @type {() => number} */ random, /** @type {number} */ words) {
  const syllables = ["the", "sea", "fox", "and", "red", "sun", "one", "day", "to", "go", "was", "big"];
  return Array.from({ length: words }, () => syllables[Math.floor(random() * syllables.length)]).join(" ");
}

export async function startServer(model = "public/models/chorus-chat", backend = "cpu", port = "0") {
  const words = ["tools/serve.mjs", "--model", model, "--backend", backend, "--port", port];
  const child = spawn(process.execPath, words, { cwd: root, stdio: ["ignore", "pipe", "inherit"] });
  let printed = "";
  child.stdout.on("data", (/** @type {Buffer} */ bytes) => (printed += String(bytes)));
  const startMs = performance.now();
  for (;;) {
    const url = /Serving at (\S+)\/v1/.exec(printed)?.[1];
    if (url) {
      console.log(printed.split("\n").find((line) => line.includes("context")));
      return { url, process: child };
    }
    if (child.exitCode !== null || performance.now() - startMs > STARTED_WITHIN_MS) {
      child.kill();
      throw new Error(`The server did not start:\n${printed}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
