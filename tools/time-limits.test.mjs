import { spawn } from "node:child_process";
import { once } from "node:events";

import { expect, it } from "vitest";

import { run } from "./run-command.mjs";
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
