// A server of HTTP that answers as a test says: by playing back what a real one sent, or by misbehaving.

import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

interface ScriptedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: Record<string, unknown>;
}

export type Script = (request: ScriptedRequest, response: ServerResponse) => void | Promise<void>;

export class ScriptedServer implements AsyncDisposable {
  readonly baseUrl: string;
  readonly host: string;
  /** In the order they came. */
  readonly requests: ScriptedRequest[] = [];
  script: Script;
  readonly #close: () => Promise<void>;

  private constructor(port: number, script: Script, close: () => Promise<void>) {
    this.host = `127.0.0.1:${port}`;
    this.baseUrl = `http://${this.host}/v1`;
    this.script = script;
    this.#close = close;
  }

  static async start(script: Script): Promise<ScriptedServer> {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const scripted = new ScriptedServer((server.address() as AddressInfo).port, script, async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    });
    server.on("request", (incoming, outgoing) => void scripted.#answer(incoming, outgoing));
    return scripted;
  }

  async #answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of incoming) pieces.push(piece as Buffer);
    const { method = "", url: path = "", headers } = incoming;
    const text = Buffer.concat(pieces).toString();
    const request = { method, path, headers, body: text === "" ? {} : (JSON.parse(text) as Record<string, unknown>) };
    this.requests.push(request);
    await this.script(request, outgoing);
  }

  /** Ends it at once, with every connection. */
  stop(): Promise<void> {
    return this.#close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#close();
  }
}

/** Plays a stream back, cut into pieces of `pieceBytes`, wherever characters end. */
export function playBack(transcript: string, pieceBytes = Infinity): Script {
  return async (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
    const bytes = Buffer.from(transcript);
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      response.write(bytes.subarray(at, Math.min(bytes.length, at + pieceBytes)));
      // Each piece on its own: else they would be joined on the way.
      if (pieceBytes < bytes.length) await new Promise((resolve) => setImmediate(resolve));
    }
    response.end();
  };
}

export const answerJson =
  (status: number, body: object, headers: Record<string, string> = {}): Script =>
  (_, response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify(body));
  };

export const answerText =
  (status: number, text: string, headers: Record<string, string> = { "content-type": "text/html" }): Script =>
  (_, response) => {
    response.writeHead(status, headers);
    response.end(text);
  };

/** Answers each request by the next script; the last one stays. */
export function inTurn(...scripts: readonly Script[]): Script {
  let next = 0;
  return (request, response) => scripts[Math.min(next++, scripts.length - 1)]?.(request, response);
}
