// npm run bench -- serve: load on a server of OpenAI's API, from this process, as `vllm bench serve` makes it. Without --url it
// starts `npm run serve` with the embedded model in a process of its own.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

import { root } from "../../tools/run-command.mjs";
import { endProcess } from "../../tools/time-limits.mjs";
import { readHttpStream, type HttpTarget } from "../load/http-load.ts";
import { poissonArrivalsMs, sendAll } from "../load/load.ts";
import { servingMetrics } from "../load/serving-metrics.ts";
import { servingReport } from "../load/serving-report.ts";
import { seededRandom, type Random } from "../seeded-random.ts";
import type { OptionsOf } from "./bench-parts.ts";

const STARTED_WITHIN_MS = 120_000;

type Options = OptionsOf<"serve">;

export async function run(options: Options): Promise<boolean> {
  const server = options.url ? null : await startServer(options.model, options.backend);
  try {
    const base = (options.url ?? server?.url ?? "").replace(/\/+$/, "").replace(/\/v1$/, "");
    const apiKey = options.apiKey ?? null;
    return await loadServer({ baseUrl: `${base}/v1`, model: await servedModel(base, apiKey), apiKey }, options);
  } finally {
    if (server) await endProcess(server.process);
  }
}

/** Returns the name of a server's first model. @throws Error that says what it answered instead */
export async function servedModel(base: string, apiKey: string | null): Promise<string> {
  const url = `${base}/v1/models`;
  const response = await fetch(url, {
    headers: apiKey ? { authorization: `Bearer ${apiKey}` } : {},
    signal: AbortSignal.timeout(STARTED_WITHIN_MS),
  });
  if (response.status === 401) throw new Error(`${url} answered 401: give the server's key with --apiKey.`);
  const list = response.ok ? await response.json().catch(() => null) : null;
  const name: unknown = list?.data?.[0]?.id;
  if (typeof name !== "string") throw new Error(`${url} answered ${response.status}, without a list of models.`);
  return name;
}

/** Prints the figures. Returns whether all requests were answered. */
async function loadServer(target: HttpTarget, options: Options): Promise<boolean> {
  const { seed = 1, requests: count = 64, rate = "inf", promptTokens = 32, outputTokens = 32, concurrency } = options;
  const random = seededRandom(Number(seed));
  const requestRate = rate === "inf" ? Infinity : Number(rate);
  const maxConcurrency = concurrency === undefined ? null : Number(concurrency);
  const request = () => ({ prompt: randomText(random, Number(promptTokens)), outputTokens: Number(outputTokens) });
  const requests = Array.from({ length: Number(count) }, request);
  const arrivalsMs = poissonArrivalsMs(requests.length, requestRate, random);
  await readHttpStream(target, request()); // warms up
  const sent = await sendAll(requests, (one) => readHttpStream(target, one), { arrivalsMs, maxConcurrency });
  const metrics = servingMetrics({ requestRate, maxConcurrency, ...sent, steps: [] });
  console.log(servingReport(metrics));
  for (const error of new Set(metrics.errors)) console.log(`Failed: ${error}`);
  return metrics.failed === 0;
}

/** Returns short words, most of which are one token. */
function randomText(random: Random, words: number): string {
  const syllables = ["the", "sea", "fox", "and", "red", "sun", "one", "day", "to", "go", "was", "big"];
  return Array.from({ length: words }, () => syllables[Math.floor(random() * syllables.length)]).join(" ");
}

async function startServer(model = "public/models/chorus-chat", backend = "cpu") {
  const words = ["tools/serve.mjs", "--model", model, "--backend", backend, "--port", "0"];
  const child = spawn(process.execPath, words, { cwd: root, stdio: ["ignore", "pipe", "inherit"] });
  const timer = setTimeout(() => child.kill(), STARTED_WITHIN_MS);
  let printed = "";
  let url: string | undefined;
  for await (const line of createInterface(child.stdout)) {
    printed += `${line}\n`;
    if (line.includes("context")) console.log(line);
    url = /Serving at (\S+)\/v1/.exec(line)?.[1];
    if (url !== undefined) break;
  }
  clearTimeout(timer);
  if (url === undefined) throw new Error(`The server did not start:\n${printed}`);
  child.stdout.resume(); // a full pipe would hold it
  return { url, process: child };
}
