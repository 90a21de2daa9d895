import { hearNumbered, numbering } from "../../protocol/numbered-port.ts";
import type { ApiCall, ApiOffer, ApiRequest, FromPage, ToPage } from "./page-api-messages.ts";

/** The part of a WindowClient that is used here. */
export interface PageClient {
  postMessage(message: ApiCall, transfer: readonly MessagePort[]): void;
}

/** How long pages may take to say that they answer. One that is busy drawing takes a while. */
const PATIENCE_MS = 2000;
/** Bytes of a request's body. */
const MAX_BODY_BYTES = 16 * 2 ** 20;

/** Returns a request's path within the API ("/v1/models"); null: it is none of its paths. */
export function apiPath(url: string, scope: string): string | null {
  const root = new URL("v1/", scope);
  const { origin, pathname, search } = new URL(url);
  if (origin !== root.origin || !pathname.startsWith(root.pathname)) return null;
  return `/v1/${pathname.slice(root.pathname.length)}${search}`;
}

/**
 * Has a page of the scope answer a request. Streams come through as they are made, at the reader's pace.
 * @param path within the API
 * @param pages all pages of the origin
 */
export async function answerApi(
  request: Request,
  path: string,
  scope: string,
  pages: readonly PageClient[],
  patienceMs = PATIENCE_MS,
): Promise<Response> {
  // A form of another origin could send a page here, and so spend this engine's time.
  if (request.mode === "navigate" && request.method !== "GET") {
    return refusal(403, "cross_origin", "A form can't ask this API. Ask it with fetch.");
  }
  const body = await request.arrayBuffer();
  if (body.byteLength > MAX_BODY_BYTES) return refusal(413, "body_too_large", "A body may have 16 MiB.");
  const port = await whoAnswers(scope, pages, patienceMs);
  if (port === null) {
    const message = `No open tab answers. Open Chorus at ${scope}, and switch on "API for this site" in its settings.`;
    return refusal(503, "no_tab", message, { "retry-after": "1" });
  }
  return respond(port, { path, method: request.method, headers: [...request.headers], body }, request.signal);
}

/** Returns the port of the first page that answers; null: none does. */
function whoAnswers(scope: string, pages: readonly PageClient[], patienceMs: number): Promise<MessagePort | null> {
  return new Promise((resolve) => {
    const silent = new Set(pages);
    const timer = setTimeout(resolve, patienceMs, null);
    const decide = (port: MessagePort | null) => {
      clearTimeout(timer);
      resolve(port);
    };
    if (silent.size === 0) decide(null);
    for (const page of pages) {
      const { port1, port2 } = new MessageChannel();
      port1.addEventListener("message", ({ data }: MessageEvent<ApiOffer | object | null>) => {
        if (data === null || !("answers" in data)) return;
        if (data.answers) decide(port1);
        else port1.close();
        silent.delete(page);
        if (silent.size === 0) decide(null);
      });
      port1.start();
      page.postMessage({ type: "chorus-api", scope }, [port2]);
    }
  });
}

/** Sends the request through a page's port. The response's body pulls piece after piece. */
function respond(port: MessagePort, asked: ApiRequest, signal: AbortSignal): Promise<Response> {
  return new Promise((resolve, reject) => {
    const send: (message: ToPage) => void = numbering(port);
    let controller: ReadableStreamDefaultController<Uint8Array> | null = null;
    let pulled: (() => void) | null = null;
    /** A closed port may still bring what waited in it. */
    let isOver = false;
    const leave = () => {
      isOver = true;
      send({ cancel: true });
      port.close();
    };
    signal.addEventListener("abort", leave, { once: true });
    const finish = (end: () => void) => {
      isOver = true;
      signal.removeEventListener("abort", leave);
      end();
      pulled?.();
      port.close();
    };
    const fail = (error: Error) => finish(() => (controller ? controller.error(error) : reject(error)));
    const take = (data: FromPage) => {
      if (isOver) return;
      if ("head" in data) {
        const { status, headers } = data.head;
        const body = new ReadableStream<Uint8Array>(
          {
            start: (started) => void (controller = started),
            // Resolves with the next piece, so that there is one pull under way at most.
            pull() {
              send({ pull: true });
              return new Promise((done) => (pulled = done));
            },
            cancel: leave,
          },
          { highWaterMark: 0 },
        );
        const hasBody = status !== 204 && asked.method !== "HEAD";
        resolve(
          new Response(hasBody ? body : null, { status, headers: headers.map(([name, value]) => [name, value]) }),
        );
        if (!hasBody) port.close();
      } else if ("bytes" in data) {
        controller?.enqueue(data.bytes);
        pulled?.();
      } else if ("end" in data) {
        finish(() => controller?.close());
      } else {
        fail(new TypeError(data.error));
      }
    };
    hearNumbered(
      port,
      (data) => take(data as FromPage),
      () => {
        if (isOver) return;
        send({ cancel: true });
        fail(new TypeError("A part of the tab's answer could not be read."));
      },
    );
    send({ request: asked });
  });
}

function refusal(status: number, code: string, message: string, headers: Record<string, string> = {}): Response {
  const type = status < 500 ? "invalid_request_error" : "server_error";
  return Response.json({ error: { message, type, param: null, code } }, { status, headers });
}
