// Serves the page and the fixtures, starts each home, and hears from it. Needs nothing but Node.

import { spawn, type ChildProcess } from "node:child_process";
import { readFileSync, existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";

import type { HomeReport, Said } from "./home.ts";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".wasm": "application/wasm",
  ".json": "application/json",
};
/** The page's clock is finer where it is isolated. */
const HEADERS = { "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp" };
/** Until the first word of a home. */
const START_MS = 60_000;
/** Given to a home beyond its time, to end the step that it is in. */
const GRACE_MS = 15_000;

export interface Outcome {
  /** null: it never said what it has. */
  readonly report: HomeReport | null;
  /** Why it did not come to its end; null if it did. */
  readonly failure: string | null;
}

interface Listening {
  onSaid: (said: Said) => void;
}

export class Driver {
  readonly #server = createServer();
  readonly #listening: Listening = { onSaid: () => undefined };
  readonly #folder: string;

  /** @param folder has page/ and tests/fixtures/ */
  constructor(folder: string) {
    this.#folder = folder;
    this.#server.on("request", (request, response) => {
      const { pathname } = new URL(request.url ?? "/", "http://localhost");
      if (request.method === "POST") {
        const parts: Buffer[] = [];
        request.on("data", (part: Buffer) => parts.push(part));
        request.on("end", () => {
          response.writeHead(204).end();
          this.#listening.onSaid(JSON.parse(Buffer.concat(parts).toString()) as Said);
        });
        return;
      }
      const path = join(
        this.#folder,
        normalize(pathname.startsWith("/tests/fixtures/") ? pathname : `/page${pathname}`),
      );
      if (!path.startsWith(this.#folder) || !existsSync(path)) {
        response.writeHead(404).end();
        return;
      }
      response.writeHead(200, { ...HEADERS, "Content-Type": TYPES[extname(path)] ?? "application/octet-stream" });
      response.end(readFileSync(path));
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  /**
   * Runs a program until it says that it is done, ends, or takes too long. Then it has ended, whatever happened.
   *
   * @param onReport hears each report, and what is going on
   */
  async run(
    program: string,
    args: readonly string[],
    { minutes, env = {}, onReport }: { minutes: number; env?: Record<string, string>; onReport: (said: Said) => void },
  ): Promise<Outcome> {
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
        this.#listening.onSaid = (said) => {
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
      this.#listening.onSaid = () => undefined;
      await end(child);
    }
  }
}

/** The line that says what is wrong, of all that a program wrote. */
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
