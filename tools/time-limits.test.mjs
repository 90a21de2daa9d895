import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { root, run } from "./run-command.mjs";
import { askAdapter, endProcess, within } from "./time-limits.mjs";

const never = () => new Promise(() => undefined);

it("whoever waits too long hears for what", async () => {
  await expect(within(never(), 10, "no page")).rejects.toThrow("no page within 0.01 s");
  await expect(within(Promise.resolve(1), 10_000, "no page")).resolves.toBe(1);
});

it("a browser that never gives an adapter is waited for no longer than the limit", async () => {
  const page = { evaluate: () => /** @type {Promise<null>} */ (never()) };
  await expect(askAdapter(page, 10)).rejects.toThrow("asked for a WebGPU adapter within 0.01 s");
});

describe("all programs here", () => {
  const sources = ["tools", "lab", "e2e"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((path) => /\.m?[jt]s$/.test(path) && !path.includes("node_modules"))
      .map((path) => ({ path: `${folder}/${path}`, text: readFileSync(join(root, folder, path), "utf8") })),
  );
  /** Places where a pattern stands, with what follows in the same call. */
  const callsOf = (/** @type {RegExp} */ pattern) =>
    sources.flatMap(({ path, text }) =>
      [...text.matchAll(pattern)].map(({ index }) => ({ path, call: text.slice(index, endOfCall(text, index)) })),
    );

  it("ask a browser for its adapter by askAdapter alone", () => {
    const others = callsOf(/\.requestAdapter\(/g).map(({ path }) => path);
    expect(others.sort()).toEqual([
      "lab/isa/dump.mjs", // in a process that has a limit
      "lab/kernels/gpu-listener.ts", // hands on what a page asks, which is waited for with a limit
      "lab/peers/engines/transformers.mjs",
      "tools/browsers/install-dawn.mjs", // in a process that has a limit
      "tools/time-limits.mjs",
    ]);
  });

  it("wait for no command without a limit", () => {
    const calls = callsOf(/\b(?:spawnSync|execSync|execFileSync|execFile\)|exec\))\(/g);
    expect(calls.length).toBeGreaterThan(4);
    expect(calls.filter(({ call }) => !/\btimeout\b/.test(call))).toEqual([]);
  });
});

function endOfCall(/** @type {string} */ text, /** @type {number} */ start) {
  let at = text.indexOf("(", start);
  for (let depth = 1; depth > 0 && at < text.length;) depth += { "(": 1, ")": -1 }[text[++at] ?? ""] ?? 0;
  return at + 1;
}

it("a process that ignores being ended is ended by force", async () => {
  const script = 'process.on("SIGTERM", () => {}); console.log(1); setInterval(() => {}, 1e6)';
  const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  await endProcess(child, 10);
  expect(child.signalCode).toBe("SIGKILL");
});

it("a command that never ends is ended, and fails", async () => {
  await expect(run("sleep 1000", { limitMs: 100 })).resolves.toBe(false);
});
