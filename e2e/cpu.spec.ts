// The library where there is no GPU: it computes in WebAssembly. The app does so in most tests (`App.open`).

import { readFileSync } from "node:fs";
import { expect, test } from "playwright/test";
import { PORTABLE, PORTABLE_FILES, PORTABLE_REQUEST, portableAnswers } from "../tests/requests/portable-request.ts";
import { createEngine, openBarePage } from "./support/library.ts";

test("an isolated page has threads that share memory, which bring the same bits", async ({ page }) => {
  // Served with the preview server's headers.
  await page.goto("./service-worker.js");
  expect(await page.evaluate(() => crossOriginIsolated)).toBe(true);
  const answers = [];
  for (const cpuThreads of [1, 2]) {
    const engine = await createEngine(page, { backend: "cpu", cpuThreads, kvCacheBytes: 2 ** 24 });
    const answer = await engine.evaluate(async (one) => {
      const body = { prompt: "Once upon a time", max_tokens: 24, temperature: 0, logprobs: 0, return_token_ids: true };
      const { choices } = await one.completions.create(body);
      await one.dispose();
      return [one.model.adapter, choices[0]?.token_ids, choices[0]?.logprobs?.token_logprobs];
    });
    answers.push(answer);
  }
  expect(answers.map(([adapter]) => adapter)).toEqual(["CPU, 1 thread", "CPU, 2 threads"]);
  expect(answers[1]?.slice(1)).toEqual(answers[0]?.slice(1));
});

test("a page that is not isolated computes on one thread", async ({ page }) => {
  await openBarePage(page);
  expect(await page.evaluate(() => crossOriginIsolated)).toBe(false);
  const engine = await createEngine(page, { backend: "cpu", cpuThreads: 2 });
  expect(await engine.evaluate(({ model }) => model.adapter)).toContain("1 thread");
});

test("portable arithmetic and products of integers have the bits that Node has", async ({ page }) => {
  await openBarePage(page);
  for (const file of PORTABLE_FILES) {
    const engine = await createEngine(page, PORTABLE[file]);
    const expected = readFileSync(`e2e/support/${file}`, "utf8");
    expect(await engine.evaluate(portableAnswers, PORTABLE_REQUEST)).toBe(expected);
  }
});
