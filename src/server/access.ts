// Limits access to a server: by key, by origin, and by refusing requests that any page could send without a preflight.

import { createHash, timingSafeEqual } from "node:crypto";

import { refusal } from "./refusal.ts";

/** Answers a request as fetch would: with a Response, or by rejecting with the reason of the request's signal. */
export type Handler = (request: Request) => Promise<Response>;

/** Open to all: process managers and load balancers check a server's health. */
const OPEN_PATHS: readonly string[] = ["/health"];

/** Answers only those that send `Authorization: Bearer KEY`. */
export function withApiKey(handler: Handler, apiKey: string): Handler {
  return async (request) => {
    const isOpen = OPEN_PATHS.includes(new URL(request.url).pathname);
    // A scheme's name is case-insensitive.
    const given = /^bearer +(.*)$/i.exec(request.headers.get("authorization") ?? "")?.[1] ?? "";
    if (isOpen || isSame(given, apiKey)) return handler(request);
    const message =
      given === ""
        ? "This server wants a key, as the header Authorization: Bearer KEY."
        : "The key that was given is not this server's.";
    return refusal(401, "invalid_api_key", message, { "www-authenticate": "Bearer" });
  };
}

/** Compares in the same time wherever the first difference is. */
function isSame(given: string, expected: string): boolean {
  const hashOf = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(hashOf(given), hashOf(expected));
}

/**
 * Refuses bodies that are not declared as JSON. A page of any origin may post text or forms without a preflight (CORS' simple
 * requests), and so could use up this server's time.
 */
export function withJsonBodies(handler: Handler): Handler {
  return async (request) => {
    const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
    if (request.method !== "POST" || type === "application/json") return handler(request);
    const message = "A body must come with the header Content-Type: application/json.";
    return refusal(415, "unsupported_media_type", message);
  };
}

/** Lets pages of an origin read the answers. @param allowed "https://app.example", or "*" for every origin */
export function withCors(handler: Handler, allowed: string): Handler {
  return async (request) => {
    const origin = request.headers.get("origin");
    const isAllowed = origin !== null && (allowed === "*" || origin === allowed);
    if (!isAllowed) return handler(request);
    const isPreflight = request.method === "OPTIONS" && request.headers.has("access-control-request-method");
    const response = isPreflight ? preflight(request) : await handler(request);
    response.headers.set("access-control-allow-origin", allowed === "*" ? "*" : origin);
    response.headers.append("vary", "origin");
    response.headers.set("access-control-expose-headers", "x-request-id, retry-after");
    return response;
  };
}

/** Prints a line for each request as its answer begins: no header and no body, which may hold secrets. */
export function withLog(handler: Handler, print: (text: string) => void): Handler {
  return async (request) => {
    const startMs = performance.now();
    const response = await handler(request);
    const { pathname } = new URL(request.url);
    const ms = Math.round(performance.now() - startMs);
    print(`${new Date().toISOString()} ${request.method} ${pathname} ${response.status} ${ms} ms\n`);
    return response;
  };
}

function preflight({ headers }: Request): Response {
  return new Response(null, {
    status: 204,
    headers: {
      "access-control-allow-methods": "GET, POST",
      // Clients send headers of their own: x-stainless-lang, traceparent...
      "access-control-allow-headers": headers.get("access-control-request-headers") ?? "",
      "access-control-allow-private-network": "true",
      "access-control-max-age": "7200",
    },
  });
}

/**
 * Answers only under allowed host names. Otherwise any page could let its own name point to this machine (DNS rebinding), and
 * read the answers as its own origin's.
 */
export function withHostNames(handler: Handler, isAllowed: (name: string) => boolean): Handler {
  return async (request) => {
    const host = request.headers.get("host") ?? "";
    const name = URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname.replace(/^\[|\]$/g, "") : host;
    if (isAllowed(name)) return handler(request);
    return refusal(403, "host_not_allowed", `This server does not answer as "${name}".`);
  };
}
