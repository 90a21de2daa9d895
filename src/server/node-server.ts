import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { ReadableStream } from "node:stream/web";
import { setTimeout } from "node:timers/promises";

import { toErrorData } from "../index.ts";
import type { Handler } from "./access.ts";
import { refusal } from "./refusal.ts";

/** How long connections may go on once nothing is in flight. */
const LAST_ANSWERS_MS = 500;

/** A handler on a port of this machine. */
export class NodeServer {
  readonly url: string;
  readonly #server: Server;
  readonly #inFlight = new Set<Promise<void>>();
  #isDraining = false;

  private constructor(handler: Handler, server: Server, url: string) {
    this.#server = server;
    this.url = url;
    server.on("request", (incoming, outgoing) => {
      const answered = this.#answer(handler, incoming, outgoing).finally(() => this.#inFlight.delete(answered));
      this.#inFlight.add(answered);
    });
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

  /** Answers 503 to new requests, and lets those in flight finish for up to `graceMs`. */
  async drain(graceMs: number): Promise<void> {
    this.#isDraining = true;
    await Promise.race([Promise.all(this.#inFlight), setTimeout(graceMs, null, { ref: false })]);
  }

  /** Stops listening, and ends all connections. */
  async close(): Promise<void> {
    this.#isDraining = true;
    const closed = once(this.#server, "close");
    this.#server.close();
    // A refusal may still be on its way. A connection that has sent half a request would never end.
    await Promise.race([closed, setTimeout(LAST_ANSWERS_MS, null, { ref: false })]);
    this.#server.closeAllConnections();
    await closed;
  }

  async #answer(handler: Handler, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const closing = new AbortController();
    const closed = once(outgoing, "close").finally(() =>
      closing.abort(new DOMException("The connection was closed.", "AbortError")),
    );
    // A connection that is kept alive would keep the server open.
    if (this.#isDraining) outgoing.setHeader("connection", "close");
    // Read only when it is asked for, and left open where it is refused in its middle: the answer takes the same connection.
    const body = incoming.iterator({ destroyOnReturn: false });
    try {
      const request = () => requestOf(incoming, body, this.url, closing.signal);
      const refused = this.#isDraining ? draining() : incoming.method === "TRACE" ? noTrace() : null;
      await send(refused ?? (await handler(request())), outgoing, closing.signal);
    } catch (error) {
      // Nobody is there to be told, or the answer failed in its middle: the client must see that it is not whole.
      if (!outgoing.headersSent && !closing.signal.aborted) await send(failed(error), outgoing, closing.signal);
      else outgoing.destroy();
    }
    // The connection's next request comes after the rest of a refused body. Nothing flows past an iterator that has begun.
    void body.return?.().then(() => incoming.resume());
    await closed;
  }
}

function draining(): Response {
  return refusal(503, "server_draining", "This server is about to end.", { "retry-after": "1" });
}

/** No Request can have this method. */
function noTrace(): Response {
  return refusal(501, "method_not_implemented", "TRACE is not implemented.");
}

function failed(error: unknown): Response {
  const { code, message } = toErrorData(error);
  return refusal(500, code, message);
}

function requestOf(
  incoming: IncomingMessage,
  bytes: AsyncIterable<Uint8Array>,
  base: string,
  signal: AbortSignal,
): Request {
  const { method = "GET", url = "/" } = incoming;
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers)) {
    for (const one of [value ?? []].flat()) headers.append(name, one);
  }
  const hasBody = method !== "GET" && method !== "HEAD";
  const body = hasBody && ReadableStream.from(bytes);
  const init = { method, headers, signal, ...(body && { body, duplex: "half" }) };
  return new Request(targetOf(url, base), init as RequestInit);
}

/** A client that was set up for a proxy names the server in its target. A target that is no path ("*") is one of this server's. */
function targetOf(url: string, base: string): string {
  const path = /^https?:/i.test(url) && URL.canParse(url) ? new URL(url).pathname + new URL(url).search : url;
  return URL.canParse(base + path) ? base + path : base;
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
