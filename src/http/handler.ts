// OpenAI's API with vLLM's additions, over Request and Response: for a page, a service worker and a server alike.

import { toChorusError } from "../protocol/errors.ts";
import { isObject } from "../protocol/json-object.ts";
import type { CreateOptions } from "../protocol/openai.ts";
import type { DetokenizeRequest, TokenizeRequest } from "../protocol/tokenize.ts";
import { VERSION } from "../version.ts";
import { CHUNK_EVENTS, eventStream } from "./event-stream.ts";
import { errorResponse, HttpError } from "./errors.ts";
import { readJson } from "./read-json.ts";
import { createResponse } from "./responses/create-response.ts";
import { responseWriter } from "./responses/response-events.ts";
import type { ServedRequest, Handler, ServedEngine } from "./served-engine.ts";
import { withNames } from "./with-names.ts";

/** A tokenizer that is busy for this long has a long text, and counts as healthy. */
const BUSY_MS = 1000;

/** Either endpoint, for an unchecked body. */
interface Endpoint {
  create(body: unknown, options: CreateOptions): Promise<object | AsyncIterableIterator<object>>;
}

type Route = (served: ServedRequest) => Response | Promise<Response>;

const namesOf = ({ engine, names }: ServedRequest) => (names.length === 0 ? [engine.model.name] : names);

const ROUTES: Readonly<Record<string, Readonly<Partial<Record<string, Route>>>>> = {
  "/": {
    GET: ({ engine }) =>
      new Response(
        `Chorus ${VERSION} serves ${engine.model.name}. OpenAI's clients take the address that ends in /v1.\n`,
      ),
  },
  "/v1/models": {
    GET: (served) =>
      Response.json({ object: "list", data: namesOf(served).map((id) => modelEntry(served.engine, id)) }),
  },
  "/v1/chat/completions": { POST: (served) => complete(served, served.engine.chat.completions) },
  "/v1/completions": { POST: (served) => complete(served, served.engine.completions) },
  "/v1/responses": {
    async POST({ engine, request, requestId }) {
      const { signal } = request;
      const made = await createResponse(engine, await readJson(request), { id: requestId, signal });
      return Symbol.asyncIterator in made ? eventStream(made, responseWriter(), signal) : Response.json(made);
    },
  },
  "/tokenize": {
    POST: async ({ engine, request }) =>
      Response.json(await engine.tokenize((await readJson(request)) as TokenizeRequest)),
  },
  "/detokenize": {
    POST: async ({ engine, request }) =>
      Response.json(await engine.detokenize((await readJson(request)) as DetokenizeRequest)),
  },
  "/metrics": {
    GET: async ({ engine }) =>
      new Response(await engine.metrics(), { headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8" } }),
  },
  "/health": {
    async GET({ engine }) {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const isBusy = new Promise((resolve) => (timer = setTimeout(resolve, BUSY_MS)));
      try {
        await engine.stats(); // rejects if the engine is gone
        await Promise.race([engine.tokenize({ prompt: "Hi" }), isBusy]);
      } catch (error) {
        const { code, message } = toChorusError(error);
        throw new HttpError(503, code, message);
      } finally {
        clearTimeout(timer);
      }
      return new Response();
    },
  },
  "/version": { GET: () => Response.json({ version: VERSION }) },
};

/** When this code was loaded, in Unix seconds: an engine's model has no date of its own. */
const LOADED_AT = Math.floor(Date.now() / 1000);
const MODEL_PATH = "/v1/models/";

/** Returns a handler that answers by an engine. @param names of its model for clients, besides its own [its own] */
export function createHandler(ownEngine: ServedEngine, names: readonly string[] = []): Handler {
  const engine = names.length === 0 ? ownEngine : withNames(ownEngine, names);
  return async (request) => {
    const requestId = crypto.randomUUID();
    const response = await answer({ engine, names, request, requestId });
    response.headers.set("x-request-id", givenId(request) ?? requestId);
    return response;
  };
}

async function answer(served: ServedRequest): Promise<Response> {
  const { request } = served;
  try {
    request.signal.throwIfAborted();
    return await routeOf(request)(served);
  } catch (error) {
    request.signal.throwIfAborted();
    return errorResponse(error);
  }
}

function routeOf({ url, method }: Request): Route {
  const path = new URL(url).pathname;
  const methods = path.startsWith(MODEL_PATH) ? { GET: getModel } : Object.hasOwn(ROUTES, path) && ROUTES[path];
  if (!methods) {
    const message = `${path} is not served here. Served are ${Object.keys(ROUTES).join(", ")}.`;
    throw new HttpError(404, "path_not_found", message);
  }
  const route = Object.entries(methods).find(([name]) => name === method || (name === "GET" && method === "HEAD"))?.[1];
  if (route) return route;
  const allow = Object.keys(methods).join(", ");
  throw new HttpError(405, "method_not_allowed", `${path} takes ${allow}, not ${method}.`, { allow });
}

/** Creates a completion of either kind, whole or streamed. The engine checks the body. */
async function complete({ request, requestId }: ServedRequest, endpoint: Endpoint): Promise<Response> {
  const { signal } = request;
  const created = await endpoint.create(named(await readJson(request), requestId), { signal });
  return Symbol.asyncIterator in created ? eventStream(created, CHUNK_EVENTS, signal) : Response.json(created);
}

function named(body: unknown, requestId: string): unknown {
  return isObject(body) ? { request_id: requestId, ...body } : body;
}

/** Returns vLLM's entry of a model: `root` is its own name, which `id` may be an alias of. */
function modelEntry({ model }: ServedEngine, id: string) {
  const { name, contextLength } = model;
  return {
    id,
    object: "model",
    created: LOADED_AT,
    owned_by: "chorus",
    root: name,
    parent: null,
    max_model_len: contextLength,
  };
}

function getModel(served: ServedRequest): Response {
  const id = new URL(served.request.url).pathname.slice(MODEL_PATH.length);
  const name = namesOf(served).find((one) => id === one || id === encodeURIComponent(one));
  if (name !== undefined) return Response.json(modelEntry(served.engine, name));
  const message = `The model "${id}" is not loaded; "${namesOf(served).join('", "')}" is.`;
  throw new HttpError(404, "model_not_found", message);
}

/** Returns the caller's own id of its request, if the header's value is a plain name; a header may contain anything. */
function givenId({ headers }: Request): string | null {
  const id = headers.get("x-request-id");
  return id !== null && /^[\x21-\x7e]{1,200}$/.test(id) ? id : null;
}
