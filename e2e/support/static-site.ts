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

  /** Deploys another version of the app: each of its scripts has another name, as after a change of the one that all import. */
  deploy(version: string): void {
    const read = (path: string) => readFileSync(join(this.#build, path), "utf8");
    const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
    const listScripts = (folder: string) =>
      readdirSync(join(this.#build, folder), { encoding: "utf8" }).filter((name) => name.endsWith(".js"));
    const paths = ["assets", "late"].flatMap((folder) => listScripts(folder).map((name) => `${folder}/${name}`));
    const scripts = new Set(paths.map((path) => basename(path)));
    const newName = (name: string) => name.replace(/\.js$/, `-${version}.js`);
    const rename = (text: string) =>
      text.replace(/[\w.-]+\.js\b/g, (name) => (scripts.has(name) ? newName(name) : name));
    this.#changed = new Map();
    // It waits for this server, however busy the machine is: after its four seconds it would show the version before.
    const [patienceMs, longerMs] = ["=4e3;", "=4e7;"];
    let worker = rename(read("service-worker.js")).replace(patienceMs, longerMs);
    if (!worker.includes(longerMs)) throw new Error(`The service worker has no ${patienceMs}`);
    for (const path of ["index.html", ...paths]) {
      const [before, after] = [read(path), rename(read(path))];
      worker = worker.replaceAll(sha256(before), sha256(after));
      this.#changed.set(rename(path), after);
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
