// A static host under a path that the build does not know. It can be updated and switched off.

import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, extname, join } from "node:path";

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
  #changed: Map<string, string> = new Map();
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

  /** Deploys another version of the app: its main script has another name, in all that imports it. */
  deploy(version: string): void {
    const read = (path: string) => readFileSync(join(this.#build, path), "utf8");
    const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
    const script = /src="\.\/(assets\/[\w-]+\.js)"/.exec(read("index.html"))?.[1] ?? "";
    const renamed = `assets/index-${version}.js`;
    const rename = (text: string) => text.replaceAll(basename(script), basename(renamed));
    const others = readdirSync(join(this.#build, "assets")).map((name) => `assets/${name}`);
    this.#changed = new Map([[renamed, rename(read(script))]]);
    let worker = rename(read("service-worker.js"));
    for (const path of ["index.html", ...others.filter((path) => path.endsWith(".js"))]) {
      const [before, after] = [read(path), rename(read(path))];
      if (after === before) continue;
      worker = worker.replaceAll(sha256(before), sha256(after));
      if (path !== script) this.#changed.set(path, after);
    }
    this.#changed.set("service-worker.js", worker);
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
