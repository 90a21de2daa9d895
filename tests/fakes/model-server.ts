// A server of model files that misbehaves on demand, for tests in Node.

import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

interface Asked {
  readonly path: string;
  readonly range: string | null;
  readonly authorization: string | null;
}

/** A test's own handling of a request; returns true if it has answered. */
type Interfere = (requested: Asked, response: ServerResponse, count: number) => boolean | void;

export class ModelServer {
  /** Files by path, without a slash before it. */
  readonly files = new Map<string, Uint8Array>();
  readonly requested: Asked[] = [];
  /** Ranges are answered with 206. */
  takesRanges = true;
  interfere: Interfere = () => false;
  /** Sends ETags. */
  hasVersions = true;
  /** Returns a file whose bytes are sent in place of the one asked for, from this byte on. */
  shift: (begin: number) => Uint8Array | null = () => null;
  /** Ends a body after this many bytes. */
  cutAfter = Infinity;
  /** A large file's takes long, and is asked for with each of its parts. */
  readonly #etags = new WeakMap<Uint8Array, string>();
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => this.#answer(request, response));
  }

  static async start(): Promise<ModelServer> {
    const server = new ModelServer();
    await new Promise<void>((resolve) => server.#server.listen(0, "127.0.0.1", resolve));
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  /** Bytes of this path's bodies that were asked for by range, or in whole. */
  bytesRequested(path: string): number {
    return this.requested
      .filter((requested) => requested.path === path)
      .reduce((sum, { range }) => {
        const [, begin, end] = /^bytes=(\d+)-(\d+)$/.exec(range ?? "") ?? [];
        const size = this.files.get(path)?.length ?? 0;
        return sum + (begin === undefined ? size : Math.min(size, Number(end) + 1) - Number(begin));
      }, 0);
  }

  /** Serves the files under a hub's paths, with the hub's list of them. */
  serveAsHub(id: string, files: ReadonlyMap<string, Uint8Array>, { commit = "c0ffee0", large = 2 ** 16 } = {}): void {
    const siblings = [...files].map(([rfilename, bytes]) => ({
      rfilename,
      size: bytes.length,
      blobId: createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex"),
      ...(bytes.length > large && {
        lfs: { sha256: createHash("sha256").update(bytes).digest("hex"), size: bytes.length, pointerSize: 130 },
      }),
    }));
    for (const [name, bytes] of files) this.files.set(`${id}/resolve/${commit}/${name}`, bytes);
    const list = new TextEncoder().encode(JSON.stringify({ id, sha: commit, siblings }));
    this.files.set(`api/models/${id}/revision/main`, list);
    this.files.set(`api/models/${id}/revision/${commit}`, list);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    // For pages of another origin, as the hub allows them.
    response.setHeader("access-control-allow-origin", "*");
    response.setHeader("access-control-allow-headers", "*, authorization");
    response.setHeader("access-control-expose-headers", "etag, content-range, x-error-code, retry-after");
    if (request.method === "OPTIONS") return void response.writeHead(204).end();
    const path = decodeURIComponent(new URL(request.url ?? "/", this.url).pathname.slice(1));
    const { range = null, authorization = null } = request.headers;
    const requested = { path, range, authorization };
    this.requested.push(requested);
    const count = this.requested.filter((other) => other.path === path).length;
    if (this.interfere(requested, response, count) === true) return;
    const bytes = this.files.get(path);
    if (!bytes) return void response.writeHead(404).end("none");
    const etag = this.#etags.get(bytes) ?? `"${createHash("md5").update(bytes).digest("hex")}"`;
    this.#etags.set(bytes, etag);
    const [, begin, end] = /^bytes=(\d+)-(\d+)$/.exec(this.takesRanges ? (range ?? "") : "") ?? [];
    const from = Number(begin ?? 0);
    const to = Math.min(bytes.length, Number(end ?? bytes.length - 1) + 1);
    if (begin !== undefined && from >= bytes.length) return void response.writeHead(416).end();
    response.writeHead(begin === undefined ? 200 : 206, {
      ...(this.hasVersions && { etag }),
      "content-length": to - from,
      "content-type": "application/octet-stream",
      ...(begin !== undefined && { "content-range": `bytes ${from}-${to - 1}/${bytes.length}` }),
    });
    const sent = this.shift(from) ?? bytes;
    if (to - from <= this.cutAfter) return void response.end(sent.subarray(from, to));
    response.write(sent.subarray(from, from + this.cutAfter), () => response.destroy());
  }
}
