// What running ahead brings: tokens per second of the embedded model, by the number of steps in flight.

import { it } from "vitest";

import { createEngine, type ChorusEngine } from "./index.ts";
import { medianOf, printTable } from "./testing/benchmarks/bench.ts";

const DEPTHS = [0, 1, 2, 3, 4];
const CONCURRENCIES = [1, 8];
const OUTPUT_TOKENS = 24;

async function tokensPerSecond(engine: ChorusEngine, concurrency: number): Promise<number> {
  const startMs = performance.now();
  await Promise.all(
    Array.from({ length: concurrency }, (_, i) =>
      engine.completions.create({ prompt: [1, 5 + i, 9], max_tokens: OUTPUT_TOKENS, ignore_eos: true, temperature: 0 }),
    ),
  );
  return (1000 * concurrency * OUTPUT_TOKENS) / (performance.now() - startMs);
}

it("run-ahead", async () => {
  const engines = await Promise.all(
    DEPTHS.map((runAhead) =>
      createEngine({ backend: "webgpu", model: "/models/chorus-chat/", runAhead, enablePrefixCaching: false }),
    ),
  );
  const rows = [];
  for (const concurrency of CONCURRENCIES) {
    const rates = engines.map((): number[] => []);
    for (const engine of engines) await tokensPerSecond(engine, concurrency); // warm up
    for (let round = 0; round < 5; round++) {
      for (const [i, engine] of engines.entries()) rates[i]?.push(await tokensPerSecond(engine, concurrency));
    }
    const medians = rates.map(medianOf);
    rows.push([
      concurrency,
      ...medians.map((rate) => `${rate.toFixed(1)} (${(rate / (medians[0] ?? NaN)).toFixed(2)})`),
    ]);
  }
  for (const engine of engines) await engine.dispose();
  printTable(
    "Tokens per second by runAhead, and as a ratio to 0: median of 5, interleaved, in one run",
    ["at once", ...DEPTHS.map(String)],
    rows,
  );
});
