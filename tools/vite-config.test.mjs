import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, expect, it, vi } from "vitest";
import { preview, resolveConfig } from "vite";

afterEach(() => void vi.unstubAllEnvs());

it("a build is made for people whatever NODE_ENV says", async () => {
  vi.stubEnv("NODE_ENV", "development");
  const { isProduction } = await resolveConfig({ configFile: "vite.config.ts" }, "build");
  expect(isProduction).toBe(true);
});

it("files are served as they are, with their length", async () => {
  const outDir = mkdtempSync(join(tmpdir(), "chorus-preview-"));
  mkdirSync(join(outDir, "models"));
  const bytes = "0".repeat(10_000);
  for (const name of ["model.safetensors", "tokenizer.json"]) writeFileSync(join(outDir, "models", name), bytes);
  const options = { configFile: "vite.config.ts", build: { outDir }, preview: { host: "127.0.0.1", port: 0 } };
  const server = await preview({ ...options, logLevel: "silent" });
  try {
    const headersOf = async (/** @type {string} */ name) => {
      const response = await fetch(new URL(`models/${name}?x`, server.resolvedUrls?.local[0]));
      expect(await response.text()).toBe(bytes);
      return [response.headers.get("content-encoding"), response.headers.get("content-length")];
    };
    expect(await headersOf("model.safetensors")).toEqual([null, "10000"]);
    expect(await headersOf("tokenizer.json")).toEqual([null, "10000"]);
  } finally {
    await server.close();
    rmSync(outDir, { recursive: true });
  }
});
