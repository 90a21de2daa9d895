// The page's side of an API that its service worker offers to the whole origin.

import { withJsonBodies } from "../../http/access.ts";
import { errorResponse, HttpError } from "../../http/errors.ts";
import type { Handler } from "../../http/served-engine.ts";
import { chunksOf } from "../remote/read-text.ts";
import { hearNumbered, numbering } from "../../protocol/numbered-port.ts";
import type { ApiOffer, ApiRequest, FromPage, ToPage } from "./page-api-messages.ts";

/** Says through a service worker's port that this page answers, and answers. */
export function answerThrough(port: MessagePort, handler: Handler): void {
  const send: (message: FromPage) => void = numbering(port);
  const abort = new AbortController();
  let wanted = () => {};
  const leave = () => abort.abort(new DOMException("The reader left.", "AbortError"));
  const take = (message: ToPage) => {
    if ("request" in message) void answer(message.request);
    else if ("pull" in message) wanted();
    else leave();
  };
  hearNumbered(
    port,
    (message) => take(message as ToPage),
    () => {
      send({ error: "A request could not be read." });
      leave();
    },
  );
  port.postMessage({ answers: true } satisfies ApiOffer);

  async function answer({ path, method, headers, body }: ApiRequest): Promise<void> {
    let isWanted = Promise.resolve();
    const waitForPull = () => (isWanted = new Promise((resolve) => (wanted = resolve)));
    try {
      const init: RequestInit = {
        method,
        headers: headers.map(([name, value]) => [name, value]),
        signal: abort.signal,
      };
      if (method !== "GET" && method !== "HEAD") init.body = body;
      const response = await withJsonBodies(handler)(new Request(`http://chorus${path}`, init));
      void waitForPull();
      send({ head: { status: response.status, headers: [...response.headers] } });
      for await (const bytes of chunksOf(response)) {
        await isWanted;
        if (abort.signal.aborted) return;
        void waitForPull();
        send({ bytes });
      }
      send({ end: true });
    } catch (error) {
      if (!abort.signal.aborted) send({ error: error instanceof Error ? error.message : String(error) });
    }
  }
}

export function declineThrough(port: MessagePort): void {
  port.postMessage({ answers: false } satisfies ApiOffer);
}

/** What a page answers while its engine can't. */
export const notReady: Handler = async () => {
  const message = "The tab that answers is loading its model. Ask again.";
  return errorResponse(new HttpError(503, "model_loading", message, { "retry-after": "1" }));
};
