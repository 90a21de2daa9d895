import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

import { FakeEngine } from "../../../tests/app/fake-engine.ts";

it("The Grafana dashboard shows only metrics that there are", async () => {
  const dashboard = readFileSync("docs/serve/grafana/dashboards/chorus.json", "utf8");
  const text = await new FakeEngine().metrics();
  const shown = new Set(dashboard.match(/\b(?:vllm|chorus):[a-z\d_]+/g));
  expect(shown.size).toBeGreaterThan(12);
  for (const name of shown) expect(text).toMatch(new RegExp(`^${name}[{ ]`, "m"));
});
