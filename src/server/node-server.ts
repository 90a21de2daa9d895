import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { ReadableStream } from "node:stream/web";
import { setTimeout } from "node:timers/promises";

import { toErrorData } from "../index.ts";
import type { Handler } from "./access.ts";
import { refusal } from "./refusal.ts";

/** Time that connections may stay open once no request is in flight. */
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

  /** @param port 0 for any free port */
  static async listen(handler: Handler, { host, port }: { host: string; port: number }): Promise<NodeServer> {
    const server = createServer();
    server.listen(port, host);
    await once(server, "listening"); // rejects if it can't listen
    const address = server.address();
    const actual = typeof address === "object" && address ? address.port : port;
    return new NodeServer(handler, server, `http://${host.includes(":") ? `[${host}]` : host}:${actual}`);
  }

  /** Answers 503 to new requests, and lets those in flight finish for up to `graceMs`. */
  async drain(graceMs: number): Promise<void> {
    this.#isDraining = true;
    await Promise.race([Promise.all(this.#inFlight), setTimeout(graceMs, null, { ref: false })]);
  }

  async close(): Promise<void> {
    this.#isDraining = true;
    const closed = once(this.#server, "close");
    this.#server.close();
    // A refusal may not have been sent yet. A connection that has sent half a request would never end.
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
    // Read only on demand, and left open if it is refused in its middle: the answer uses the same connection.
    const body = incoming.iterator({ destroyOnReturn: false });
    try {
      const request = () => requestOf(incoming, body, this.url, closing.signal);
      const refused = this.#isDraining ? draining() : incoming.method === "TRACE" ? noTrace() : null;
      await send(refused ?? (await handler(request())), outgoing, closing.signal);
    } catch (error) {
      // Otherwise the client is gone, or the answer failed in its middle: the client must see that it is incomplete.
      if (!outgoing.headersSent && !closing.signal.aborted) await send(failed(error), outgoing, closing.signal);
      else outgoing.destroy();
    }
    // The connection's next request comes after the rest of a refused body, which an iterator that has begun holds back.
    void body.return?.().then(() => incoming.resume());
    await closed;
  }
}

function draining(): Response {
  return refusal(503, "server_draining", "This server is about to end.", { "retry-after": "1" });
}

/** Refuses TRACE, which no Request can have as its method. */
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

/** Returns a request's URL. A client of a proxy names the server in its target; another target ("*") is relative to `base`. */
function targetOf(url: string, base: string): string {
  const path = /^https?:/i.test(url) && URL.canParse(url) ? new URL(url).pathname + new URL(url).search : url;
  return URL.canParse(base + path) ? base + path : base;
}

/** Sends a response, and waits for a slow reader, which the handler may cut off. */
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
