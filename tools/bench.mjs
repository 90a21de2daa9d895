// npm run bench: the core's cost in Node, then the benchmark page (#/bench) in Chromium, whose figures go to the terminal
// and to docs/benchmarks/. Words narrow it: "core", "page"; only when named: "cpu" (the CPU backend's kernels and steps),
// "draft" (when a draft model pays, on the CPU; --size gpt2 --draft distilgpt2), "ui" (the interface alone), "memory" (while a
// model loads), "soak" (a long day; --minutes N), "serve" (load on a server: --url --requests --rate --concurrency, or --soak
// MINUTES --streams), "fleet" (a simulation of many servers), "policies" (a simulation of the scheduling policies: --recording
// FILE --sequences N), "balancer" (three servers behind HAProxy, or --balancer nginx), "peers" (others on the same weights), or
// part of the name of a *.gpu.bench.ts (order, run-ahead). Options are the page's: --quick --size small --backend cpu
// --sections decode,modes --sequences 1,8 --draft distilgpt2 --dtype q8 --repeats 3 --promptTokens 32 --outputTokens 32;
// --out FOLDER and --name NAME say where to, --note TEXT what its readers should know.

import "./require-node.mjs";

import { parseArgs } from "node:util";

import { run } from "./run-command.mjs";
import { setUp } from "./setup.mjs";

await setUp();
// Peers have options of their own.
if (process.argv.includes("peers")) {
  const others = process.argv.slice(2).filter((word) => word !== "peers");
  process.exitCode = (await run(`node tools/peers/run.mjs ${others.join(" ")}`)) ? 0 : 1;
} else {
  const { values, positionals: words } = parseArgs({
    allowPositionals: true,
    options: {
      quick: { type: "boolean" },
      size: { type: "string" },
      model: { type: "string" },
      sections: { type: "string" },
      sequences: { type: "string" },
      backend: { type: "string" },
      dtype: { type: "string" },
      draft: { type: "string" },
      repeats: { type: "string" },
      promptTokens: { type: "string" },
      outputTokens: { type: "string" },
      seed: { type: "string" },
      out: { type: "string" },
      name: { type: "string" },
      note: { type: "string" },
      url: { type: "string" },
      requests: { type: "string" },
      rate: { type: "string" },
      concurrency: { type: "string" },
      apiKey: { type: "string" },
      soak: { type: "string" },
      streams: { type: "string" },
      balancer: { type: "string" },
      recording: { type: "string" },
      minutes: { type: "string" },
    },
  });
  if (words.length === 0 || words.includes("core")) {
    const { runnerImport } = await import("vite");
    const { module: bench } = await runnerImport("./src/testing/benchmarks/core-cost.ts", { configFile: false });
    await bench.printCoreCosts();
  }
  if (words.length === 0 || words.includes("page")) {
    const { benchmarkPage } = await import("./bench-page.mjs");
    const { size, model, out = "docs/benchmarks", name, note, quick, ...options } = values;
    // The page's own parameters, as in its address.
    const params = { ...options, model: size ?? model, ...(quick && { quick: "" }) };
    await benchmarkPage({ params, out, name, note });
  }
  if (words.includes("ui")) {
    const { ensureChromium } = await import("./install-chromium.mjs");
    const { benchUi } = await import("./bench-ui.mjs");
    await benchUi(await ensureChromium());
  }
  if (words.includes("cpu")) {
    const { ensureChromium } = await import("./install-chromium.mjs");
    const { benchCpu } = await import("./bench-cpu.mjs");
    await benchCpu(await ensureChromium(), values);
  }
  if (words.includes("draft")) {
    const { benchDraft } = await import("./bench-draft.mjs");
    await benchDraft(values);
  }
  if (words.includes("memory")) {
    const { ensureChromium } = await import("./install-chromium.mjs");
    const { benchMemory } = await import("./bench-memory.mjs");
    await benchMemory(await ensureChromium(), values.size);
  }
  if (words.includes("soak")) {
    const { ensureChromium } = await import("./install-chromium.mjs");
    const { benchSoak } = await import("./bench-soak.mjs");
    await benchSoak(await ensureChromium(), values);
  }
  if (words.includes("serve")) {
    const { benchServe } = await import("./bench-serve.mjs");
    await benchServe(values);
  }
  if (words.includes("fleet")) {
    const { benchFleet } = await import("./bench-fleet.mjs");
    await benchFleet(values);
  }
  if (words.includes("policies")) {
    const { benchPolicies } = await import("./bench-policies.mjs");
    await benchPolicies(values);
  }
  if (words.includes("balancer")) {
    const { benchBalancer } = await import("./bench-balancer.mjs");
    await benchBalancer(values.balancer);
  }
  const named = ["core", "page", "cpu", "draft", "ui", "memory", "soak", "serve", "fleet", "policies", "balancer"];
  const filters = words.filter((word) => !named.includes(word));
  if (filters.length > 0) {
    const { ensureChromium } = await import("./install-chromium.mjs");
    process.env.CHORUS_CHROMIUM = await ensureChromium();
    const succeeded = await run(`vitest run --project bench ${filters.join(" ")}`);
    if (!succeeded) process.exitCode = 1;
  }
}
