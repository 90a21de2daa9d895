// npm run bench -- schemas FILE: coverage and speed of structured output, by MaskBench's method.

import { once } from "node:events";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { gunzipSync } from "node:zlib";

import { markdownTable } from "../report/table.ts";
import type { SchemaCase, SchemaResult } from "../schemas/measure-schema.ts";
import { madeUpVocabulary, vocabularyOf } from "../schemas/vocabulary.ts";
import { meanOf, percentileOf } from "../statistics.ts";
import type { OptionsOf } from "./bench-parts.ts";

/** MaskBench's results of 2025-03, of 11,306 schemas. */
const PUBLISHED = [
  ["LLGuidance", 8909],
  ["XGrammar", 8122],
  ["Outlines", 7050],
  ["llama.cpp", 6505],
] as const;
const NUM_PUBLISHED = 11_306;

/** Of a schema; null for one that took too long. */
type Result = SchemaResult | null;

export async function run({ path, ...options }: OptionsOf<"schemas"> & { readonly path: string }) {
  const { tokenizer, vocabulary = "151936", seconds = "10", verbose = false } = options;
  const cases = readCases(path);
  const tokens = tokenizer
    ? vocabularyOf(JSON.parse(readFileSync(tokenizer, "utf8")))
    : madeUpVocabulary(
        cases.map((one) => JSON.stringify(one)),
        Number(vocabulary),
      );
  const results = await measureAll(cases, tokens, Number(seconds) * 1000);
  if (verbose) results.forEach((result, i) => report(cases[i]?.name ?? "", result));
  const figures = (values: readonly number[]) => {
    const points = [50, 90, 99, 100].map((percent) => percentileOf(values, percent).toFixed(2));
    return [meanOf(values).toFixed(2), ...points];
  };
  const compiled = results.flatMap((result) => (result === null || result.refused !== null ? [] : [result]));
  const times = [
    ["to the first mask", ...figures(compiled.map(({ firstMaskMs }) => firstMaskMs))],
    ["a mask", ...figures(compiled.flatMap(({ maskMs }) => maskMs))],
  ];
  console.log(`\n${markdownTable(["ms", "mean", "p50", "p90", "p99", "max"], times).join("\n")}\n`);
  const passed = compiled.filter(({ rejected, accepted }) => rejected.length + accepted.length === 0).length;
  const late = results.filter((result) => result === null).length;
  const counts = {
    passed,
    refused: results.length - compiled.length - late,
    "took too long": late,
    "rejected a valid instance": compiled.filter(({ rejected }) => rejected.length > 0).length,
    "accepted an invalid instance": compiled.filter(({ accepted }) => accepted.length > 0).length,
  };
  const lines = Object.entries(counts).map(([name, n]) => [name, String(n)]);
  console.log(`${markdownTable([`${cases.length} schemas`, ""], lines).join("\n")}\n`);
  const share = (part: number, all: number) => `${((100 * part) / all).toFixed(1)}%`;
  const rows = [
    ["Chorus, here", share(passed, cases.length)],
    ...PUBLISHED.map(([name, count]) => [`${name}, as published`, share(count, NUM_PUBLISHED)]),
  ];
  console.log(markdownTable(["passes", ""], rows).join("\n"));
  console.log(`\n${ranking(results).join("\n")}`);
}

function ranking(results: readonly Result[]): string[] {
  const counts = new Map<string, number>();
  for (const result of results) {
    if (!result?.refused) continue;
    const place = /^(\S+?) /.exec(result.refused)?.[1] ?? "";
    const reason = `${place.split(".").at(-1)}: ${result.refused.slice(place.length + 1, place.length + 100)}`;
    counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  return [...counts]
    .toSorted((a, b) => b[1] - a[1])
    .slice(0, 25)
    .map(([reason, count]) => `${String(count).padStart(5)} ${reason}`);
}

function report(name: string, result: Result): void {
  if (result === null) console.log(`${name}: took too long`);
  else if (result.refused !== null) console.log(`${name}: refused: ${result.refused}`);
  for (const one of result?.rejected ?? []) console.log(`${name}: rejected: ${one}`);
  for (const one of result?.accepted ?? []) console.log(`${name}: accepted: ${one}`);
}

/** Reads a file of one case a line, or a folder of cases, as MaskBench has them. */
function readCases(path: string): SchemaCase[] {
  const textOf = (file: string) => {
    const bytes = readFileSync(file);
    return (file.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8");
  };
  const isFolder = statSync(path).isDirectory();
  const texts = isFolder
    ? readdirSync(path)
        .filter((name) => name.endsWith(".json"))
        .map((name) => textOf(join(path, name)))
    : textOf(path).trim().split("\n");
  return texts.map((text, i) => {
    const { name = String(i), schema, tests = [] } = JSON.parse(text);
    return { name, schema, tests };
  });
}

async function measureAll(cases: readonly SchemaCase[], tokens: readonly string[], limitMs: number): Promise<Result[]> {
  const start = async () => {
    const worker = new Worker(new URL("../schemas/schema-worker.mjs", import.meta.url), { workerData: tokens });
    await once(worker, "message");
    return worker;
  };
  const results: Result[] = [];
  let worker = await start();
  for (const one of cases) {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), limitMs);
    worker.postMessage(one);
    const [result = null] = await once(worker, "message", { signal: late.signal }).catch((error) => {
      if (late.signal.aborted) return [];
      throw error;
    });
    clearTimeout(timer);
    results.push(result);
    if (result !== null) continue;
    await worker.terminate();
    worker = await start();
  }
  await worker.terminate();
  return results;
}
