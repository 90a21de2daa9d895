// A static host under a path that the build does not know. It can be updated and switched off.

import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";

const FOLDER = "/some/where/";
const TYPES: Record<string, string> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".webmanifest": "application/manifest+json",
};

export class StaticSite {
  readonly url: string;
  /** Paths of the files that were sent whole, as they were sent. */
  readonly sent: string[] = [];
  /** Files that differ from the build's. */
  #changed: ReadonlyMap<string, string> = new Map();
  readonly #server: Server;
  readonly #build: string;
  readonly #headersOf: (path: string) => Record<string, string>;

  private constructor(server: Server, build: string, headersOf: (path: string) => Record<string, string>) {
    const { port } = server.address() as AddressInfo;
    this.url = `http://127.0.0.1:${port}${FOLDER}`;
    this.#server = server.on("request", this.#answer);
    this.#build = build;
    this.#headersOf = headersOf;
  }

  /** Serves the folder `build`, with headers by the path in it ("/assets/..."); a host has none by itself. */
  static open(build: string, headersOf: (path: string) => Record<string, string> = () => ({})): Promise<StaticSite> {
    return new Promise((resolve) => {
      const server = createServer().listen(0, "127.0.0.1", () => resolve(new StaticSite(server, build, headersOf)));
    });
  }

  /** Another version of the app: its main script has another name, and all that follows from it. */
  deploy(version: string): void {
    const read = (path: string) => readFileSync(join(this.#build, path), "utf8");
    const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
    const oldPage = read("index.html");
    const script = /assets\/index-[\w-]+\.js/.exec(oldPage)?.[0] ?? "";
    const renamed = `assets/index-${version}.js`;
    const page = oldPage.replaceAll(script, renamed);
    const worker = read("service-worker.js").replaceAll(script, renamed).replaceAll(sha256(oldPage), sha256(page));
    this.#changed = new Map([
      ["index.html", page],
      [renamed, read(script)],
      ["service-worker.js", worker],
    ]);
  }

  /** From now on nothing can be reached. */
  async switchOff(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  readonly #answer = (request: IncomingMessage, response: ServerResponse) => {
    const { pathname } = new URL(request.url ?? "/", this.url);
    const path = decodeURIComponent(pathname.slice(FOLDER.length)) || "index.html";
    const file = join(this.#build, path);
    const changed = this.#changed.get(path);
    if (!pathname.startsWith(FOLDER) || (changed === undefined && !existsSync(file))) {
      response.writeHead(404).end();
      return;
    }
    const body = changed ?? readFileSync(file);
    const etag = `"${createHash("sha256").update(body).digest("hex")}"`;
    if (request.headers["if-none-match"] === etag) {
      response.writeHead(304).end();
      return;
    }
    this.sent.push(path);
    const type = TYPES[extname(path)] ?? "application/octet-stream";
    response.writeHead(200, { "Content-Type": type, ETag: etag, ...this.#headersOf(`/${path}`) });
    response.end(body);
  };
}
