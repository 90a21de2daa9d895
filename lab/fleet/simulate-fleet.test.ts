import { describe, expect, it } from "vitest";

import { simulateFleet, type FleetOptions } from "./simulate-fleet.ts";

const FLEET: FleetOptions = {
  users: 30,
  replicas: 3,
  balancing: "prefix",
  cost: (rows) => 5 + 0.5 * rows,
  seconds: 20,
  thinkS: 2,
};

describe("a simulated fleet", () => {
  it("answers alone after the prompt's steps, and a token a step", async () => {
    const { ttftMs, itlMs, answers, use } = await simulateFleet({ ...FLEET, users: 1, replicas: 1 });
    // A step of one row.
    expect(itlMs).toEqual({ p50: 5.5, p95: 5.5 });
    // A new question of 8 to 40 tokens behind a history, of which the last block is computed again.
    expect(ttftMs.p50).toBeGreaterThan(5 + 0.5 * 8 - 1e-9);
    expect(ttftMs.p95).toBeLessThan(5 + 0.5 * (48 + 40 + 16));
    expect(answers).toBeGreaterThan(3);
    expect(use).toBeLessThan(0.3);
  });

  it("finds histories where they are, so that balancing by prefix computes less", async () => {
    const prefix = await simulateFleet(FLEET);
    const least = await simulateFleet({ ...FLEET, balancing: "least connections" });
    expect(prefix.prefixHits).toBeGreaterThan(least.prefixHits + 0.1);
    expect(prefix.ttftMs.p50).toBeLessThan(least.ttftMs.p50);
  });

  it("is slower with fewer servers, and the same for the same seed", async () => {
    const many = await simulateFleet(FLEET);
    const few = await simulateFleet({ ...FLEET, replicas: 1 });
    expect(few.itlMs.p50).toBeGreaterThan(many.itlMs.p50);
    expect(few.use).toBeGreaterThan(many.use);
    expect(await simulateFleet(FLEET)).toEqual(many);
  });
});
