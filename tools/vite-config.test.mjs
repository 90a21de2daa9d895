import { afterEach, expect, it, vi } from "vitest";
import { resolveConfig } from "vite";

afterEach(() => void vi.unstubAllEnvs());

it("a build is made for people whatever NODE_ENV says", async () => {
  vi.stubEnv("NODE_ENV", "development");
  const { isProduction } = await resolveConfig({ configFile: "vite.config.ts" }, "build");
  expect(isProduction).toBe(true);
});
