// npm run bench -- serve: load on a server of OpenAI's API, from this process, as `vllm bench serve` makes it. Without --url it
// starts `npm run serve` with the embedded model in a process of its own.

import { spawn } from "node:child_process";

import { root } from "../../tools/run-command.mjs";
import { endProcess } from "../../tools/time-limits.mjs";
import { loadModule } from "./load-module.mjs";

const STARTED_WITHIN_MS = 120_000;

/** @typedef {Partial<Record<"url" | "model" | "backend" | "requests" | "rate" | "concurrency" | "promptTokens" | "outputTokens" | "seed" | "apiKey", string | undefined>>} Options */

export async function benchServe(/** @type {Options} */ options) {
  const modules = {
    ...(await loadModule("lab/load/http-load.ts")),
    ...(await loadModule("lab/load/load.ts")),
    ...(await loadModule("lab/load/serving-metrics.ts")),
    ...(await loadModule("lab/load/serving-report.ts")),
    ...(await loadModule("lab/seeded-random.ts")),
  };
  const server = options.url ? null : await startServer(options.model, options.backend);
  try {
    const base = (options.url ?? server?.url ?? "").replace(/\/+$/, "").replace(/\/v1$/, "");
    const apiKey = options.apiKey ?? null;
    const target = { baseUrl: `${base}/v1`, model: await servedModel(base, apiKey), apiKey };
    await loadServer(modules, target, options);
  } finally {
    if (server) await endProcess(server.process);
  }
}

const bearer = (/** @type {string | null} */ key) =>
  /** @type {Record<string, string>} */ (key ? { authorization: `Bearer ${key}` } : {});

/** Returns the name of a server's first model. Throws an Error that says what it answered instead. */
export async function servedModel(/** @type {string} */ base, /** @type {string | null} */ apiKey) {
  const url = `${base}/v1/models`;
  const response = await fetch(url, { headers: bearer(apiKey), signal: AbortSignal.timeout(STARTED_WITHIN_MS) });
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
  const send = (/** @type {any} */ request, /** @type {number} */ queueMs) => readHttpStream(target, request, queueMs);
  const sent = await sendAll(requests, send, { arrivalsMs, maxConcurrency });
  const metrics = servingMetrics({ requestRate, maxConcurrency, ...sent, steps: [] });
  console.log(servingReport(metrics));
  for (const error of new Set(metrics.errors)) console.log(`Failed: ${error}`);
  if (metrics.failed > 0) process.exitCode = 1;
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
