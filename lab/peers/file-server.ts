// Serves folders on loopback, to cross-origin isolated pages: threads of WebAssembly need that.

import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize, sep } from "node:path";
import { text } from "node:stream/consumers";

export interface FileServer {
  readonly url: string;
  /** Bytes of files that were sent so far, by the folders' names. */
  readonly sentBytes: ReadonlyMap<string, number>;
  close(): void;
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".json": "application/json",
  ".wasm": "application/wasm",
};

/** @param folders by the first part of their paths @param onPost gets what is posted to any path */
export async function serveFolders(
  folders: ReadonlyMap<string, string>,
  onPost: (text: string) => void = () => undefined,
): Promise<FileServer> {
  const sentBytes = new Map<string, number>();
  const count = (name: string, bytes: number) => void sentBytes.set(name, (sentBytes.get(name) ?? 0) + bytes);
  const server = createServer((request, response) => {
    if (request.method === "POST") void receive(request, response).then(onPost);
    else void answer(folders, request, response, count);
  });
  await new Promise<void>((listening) => {
    server.listen(0, "127.0.0.1", listening);
  });
  // localhost is a secure context, as WebGPU wants.
  const { port } = server.address() as AddressInfo;
  return { url: `http://localhost:${port}/`, sentBytes, close: () => server.close() };
}

async function receive(request: IncomingMessage, response: ServerResponse): Promise<string> {
  const posted = await text(request);
  response.writeHead(204).end();
  return posted;
}

async function answer(
  folders: ReadonlyMap<string, string>,
  { url, method, headers }: IncomingMessage,
  response: ServerResponse,
  onSent: (name: string, bytes: number) => void,
): Promise<void> {
  const [, name = "", ...rest] = decodeURIComponent(new URL(url ?? "/", "http://localhost").pathname).split("/");
  const folder = folders.get(name);
  const path = normalize(join(folder ?? "", ...rest));
  const found = folder && path.startsWith(folder + sep) ? await stat(path).catch(() => null) : null;
  if (!found?.isFile()) {
    response.writeHead(404).end();
    return;
  }
  const [, first, last] = /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? "") ?? [];
  const start = Number(first ?? 0);
  const end = Math.min(Number(last || Infinity), found.size - 1);
  response.writeHead(first === undefined ? 200 : 206, {
    ...(first !== undefined && { "content-range": `bytes ${start}-${end}/${found.size}` }),
    "content-type": CONTENT_TYPES[extname(path)] ?? "application/octet-stream",
    "content-length": found.size && end + 1 - start,
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-embedder-policy": "require-corp",
  });
  if (method === "HEAD") response.end();
  else {
    const stream = createReadStream(path, { start, end: Math.max(end, 0) });
    stream.on("data", ({ length }) => onSent(name, length)).pipe(response);
  }
}
