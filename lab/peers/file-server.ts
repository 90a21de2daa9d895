// Serves folders on loopback, to cross-origin isolated pages: threads of WebAssembly need that.

import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize, sep } from "node:path";
import { text } from "node:stream/consumers";

export interface FileServer {
  readonly url: string;
  close(): void;
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".json": "application/json",
  ".wasm": "application/wasm",
};

/**
 * @param folders by the first part of the path under which they are seen
 * @param onPost called with what is posted to any path
 */
export async function serveFolders(
  folders: ReadonlyMap<string, string>,
  onPost: (text: string) => void = () => undefined,
): Promise<FileServer> {
  const server = createServer((request, response) => {
    if (request.method === "POST") void receive(request, response).then(onPost);
    else void answer(folders, request, response);
  });
  await new Promise<void>((listening) => {
    server.listen(0, "127.0.0.1", listening);
  });
  // localhost is a secure context, as WebGPU wants.
  const { port } = server.address() as AddressInfo;
  return { url: `http://localhost:${port}/`, close: () => server.close() };
}

async function receive(request: IncomingMessage, response: ServerResponse): Promise<string> {
  const posted = await text(request);
  response.writeHead(204).end();
  return posted;
}

async function answer(
  folders: ReadonlyMap<string, string>,
  { url, method }: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [, name = "", ...rest] = decodeURIComponent(new URL(url ?? "/", "http://localhost").pathname).split("/");
  const folder = folders.get(name);
  const path = normalize(join(folder ?? "", ...rest));
  const found = folder && path.startsWith(folder + sep) ? await stat(path).catch(() => null) : null;
  if (!found?.isFile()) {
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, {
    "content-type": CONTENT_TYPES[extname(path)] ?? "application/octet-stream",
    "content-length": found.size,
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-embedder-policy": "require-corp",
  });
  if (method === "HEAD") response.end();
  else createReadStream(path).pipe(response);
}
