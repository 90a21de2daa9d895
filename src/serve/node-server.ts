import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { Readable } from "node:stream";

import { errorResponse, HttpError } from "../http/errors.ts";
import type { Handler } from "../http/served-engine.ts";

/** A handler on a port of this machine. */
export class NodeServer {
  readonly url: string;
  readonly #server: Server;
  #isDraining = false;

  private constructor(handler: Handler, server: Server, url: string) {
    this.#server = server;
    this.url = url;
    server.on("request", (incoming, outgoing) => void this.#answer(handler, incoming, outgoing));
  }

  /** @param port 0: any that is free */
  static async listen(handler: Handler, { host, port }: { host: string; port: number }): Promise<NodeServer> {
    const server = createServer();
    server.listen(port, host);
    await once(server, "listening"); // rejects where it can't
    const address = server.address();
    const actual = typeof address === "object" && address ? address.port : port;
    return new NodeServer(handler, server, `http://${host.includes(":") ? `[${host}]` : host}:${actual}`);
  }

  /** Takes no new requests, and lets those in flight finish. Cuts off what is still open after `graceMs`. */
  async drain(graceMs: number): Promise<void> {
    this.#isDraining = true;
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeIdleConnections();
    const timer = setTimeout(() => this.#server.closeAllConnections(), graceMs);
    await closed;
    clearTimeout(timer);
  }

  async #answer(handler: Handler, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const closing = new AbortController();
    outgoing.once("close", () => closing.abort(new DOMException("The connection was closed.", "AbortError")));
    // A connection that is kept alive would keep the server open.
    if (this.#isDraining) outgoing.setHeader("connection", "close");
    try {
      const response = this.#isDraining ? draining() : await handler(requestOf(incoming, this.url, closing.signal));
      await send(response, outgoing, closing.signal);
    } catch (error) {
      // Nobody is there to be told, or the answer failed in its middle: the client must see that it is not whole.
      if (!outgoing.headersSent && !closing.signal.aborted) await send(errorResponse(error), outgoing, closing.signal);
      else outgoing.destroy();
    }
    if (this.#isDraining) this.#server.closeIdleConnections();
  }
}

function draining(): Response {
  return errorResponse(new HttpError(503, "server_draining", "This server is about to end.", { "retry-after": "1" }));
}

function requestOf(incoming: IncomingMessage, base: string, signal: AbortSignal): Request {
  const { method = "GET", url = "/" } = incoming;
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers)) {
    for (const one of [value ?? []].flat()) headers.append(name, one);
  }
  const hasBody = method !== "GET" && method !== "HEAD";
  const body = hasBody && (Readable.toWeb(incoming) as ReadableStream<Uint8Array>);
  // A path that is no path ("//", "*") is still one of this server's.
  const target = URL.canParse(base + url) ? base + url : base;
  return new Request(target, { method, headers, signal, ...(body && { body, duplex: "half" }) });
}

/** Waits for a slow reader here; what the handler does about it is its own. */
async function send(response: Response, outgoing: ServerResponse, signal: AbortSignal): Promise<void> {
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  if (response.body && outgoing.req.method !== "HEAD") {
    outgoing.flushHeaders();
    for await (const bytes of response.body) {
      if (!outgoing.write(bytes)) await once(outgoing, "drain", { signal });
    }
  }
  outgoing.end();
}
