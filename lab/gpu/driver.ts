// Serves the page and the fixtures, starts each home, and receives its reports. Needs nothing but Node.

import { spawn, type ChildProcess } from "node:child_process";
import { join } from "node:path";

import { serveFolders } from "../peers/file-server.ts";
import type { HomeReport, Said } from "./home.ts";

/** Until the first word of a home. */
const START_MS = 60_000;
/** Additional time for a home to end its step. */
const GRACE_MS = 15_000;

export interface Outcome {
  /** null if it never sent one. */
  readonly report: HomeReport | null;
  /** Why it did not finish; null if it did. */
  readonly failure: string | null;
}

interface RunOptions {
  readonly minutes: number;
  readonly env?: Record<string, string>;
  readonly onReport: (said: Said) => void;
}

/** @param folder has page/ and tests/fixtures/ */
export async function openDriver(folder: string) {
  const folders = new Map([
    ["tests", join(folder, "tests")],
    ...["lab", "assets"].map((name) => [name, join(folder, "page", name)] as const),
  ]);
  let onSaid: (said: Said) => void = () => undefined;
  const server = await serveFolders(folders, (text) => onSaid(JSON.parse(text) as Said));
  /** Runs a program until it reports that it is done, exits, or takes too long. It has always ended afterwards. */
  const run = async (
    program: string,
    args: readonly string[],
    { minutes, env, onReport }: RunOptions,
  ): Promise<Outcome> => {
    const child = spawn(program, args, {
      env: { ...process.env, ...env },
      stdio: ["ignore", "ignore", "pipe"],
      // A browser's processes form a group, which is ended as a whole.
      detached: process.platform !== "win32",
    });
    let errors = "";
    child.stderr.on("data", (bytes: Buffer) => (errors = (errors + bytes.toString()).slice(-2000)));
    let report: HomeReport | null = null;
    try {
      const failure = await new Promise<string | null>((resolve) => {
        let timer = setTimeout(() => resolve("it did not start"), START_MS);
        let hasSpoken = false;
        onSaid = (said) => {
          if (!hasSpoken) {
            hasSpoken = true;
            clearTimeout(timer);
            const limitMs = 60_000 * minutes + GRACE_MS;
            timer = setTimeout(() => resolve("it took too long, and was ended"), limitMs);
          }
          if (said.kind === "report") ({ report } = said);
          onReport(said);
          if (said.kind === "failed") resolve(said.message);
          if (said.kind === "done") resolve(null);
        };
        child.on("error", (error) => resolve(error.message));
        child.on("exit", (code) => resolve(`it ended by itself (${code}). ${errorIn(errors)}`.trim()));
      });
      return { report, failure };
    } finally {
      onSaid = () => undefined;
      await end(child);
    }
  };
  return { url: server.url, close: () => server.close(), run };
}

function errorIn(text: string): string {
  const lines = text.trim().split("\n");
  return lines.find((line) => /Error\b/.test(line)) ?? lines.at(-1) ?? "";
}

function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.pid === undefined) return Promise.resolve();
  const ended = new Promise<void>((resolve) => child.on("exit", () => resolve()));
  try {
    if (process.platform === "win32") child.kill("SIGKILL");
    else process.kill(-child.pid, "SIGKILL");
  } catch {
    // It has just ended.
    return Promise.resolve();
  }
  return ended;
}
