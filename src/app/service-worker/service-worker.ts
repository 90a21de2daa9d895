// Makes the app work offline after the first visit, and never serves an old version while there is a network:
//
//   with network    the page, the model and the icons come from the server (one "not modified" each), code with its
//                   hash in its name comes from the cache
//   without         everything comes from the cache, from one version; of documents and late libraries, what was used
//   both            pages and workers are isolated from other origins, so that threads of the CPU backend share memory
//
// A new version adds its changed files to the cache and takes over. Open pages keep the files of their version.

import { entryFor, keyOf, type PrecacheEntry } from "./precache.ts";

interface ExtendableEvent extends Event {
  waitUntil(promise: Promise<unknown>): void;
}
interface FetchEvent extends ExtendableEvent {
  readonly request: Request;
  respondWith(response: Promise<Response>): void;
}
/** The part of ServiceWorkerGlobalScope that is used here. TypeScript's own types conflict with the page's. */
interface WorkerScope {
  readonly registration: { readonly scope: string };
  readonly clients: {
    matchAll(options: { includeUncontrolled: boolean }): Promise<readonly unknown[]>;
  };
  skipWaiting(): Promise<void>;
  addEventListener(type: "install" | "activate", listener: (event: ExtendableEvent) => void): void;
  addEventListener(type: "fetch", listener: (event: FetchEvent) => void): void;
}

/** Filled in by tools/plugins/service-worker-plugin.ts. */
declare const PRECACHE: readonly PrecacheEntry[];
declare const self: WorkerScope;

const precache = PRECACHE;
const { scope } = self.registration;
// Other folders of this host may have their own Chorus.
const cacheName = `chorus ${scope}`;
/** Documents, and libraries that few answers need. */
const KEPT_ONCE_USED = ["docs/", "late/"];
/** If a server takes longer than this to start its answer, the cache's is used. */
const PATIENCE_MS = 4000;

self.addEventListener("install", (event) => event.waitUntil(install()));
self.addEventListener("activate", (event) => event.waitUntil(dropOld()));
self.addEventListener("fetch", (event) => {
  const { request } = event;
  // The server answers requests for a part of a file.
  if (request.method !== "GET" || request.headers.has("Range")) return;
  const response = answerTo(event);
  if (response) event.respondWith(ISOLATED.has(request.destination) ? response.then(isolated) : response);
});

/** Returns null if the browser should fetch by itself, as if there were no service worker. */
function answerTo(event: FetchEvent): Promise<Response> | null {
  const { request } = event;
  const entry = entryFor(precache, request.url, scope);
  if (entry) return (entry.isImmutable ? fromCache : fromServer)(entry, request);
  if (request.url.startsWith(new URL("assets/", scope).href)) return fromOlder(request);
  if (KEPT_ONCE_USED.some((folder) => request.url.startsWith(new URL(folder, scope).href))) return fromVisit(event);
  // An isolated page may start only workers that are isolated: the library's beside the app, too.
  return request.destination === "worker" ? fetch(request) : null;
}

/** The requests that can be isolated from other origins. Others are not wrapped: a second body would delay weights. */
const ISOLATED = new Set<RequestDestination>(["document", "frame", "iframe", "worker", "sharedworker"]);

/** Adds headers that a host may not send: requests across origins are not refused, they only go without cookies. */
function isolated(response: Response): Response {
  // An unreadable response can't be a page or a worker of this app.
  if (response.type === "opaque" || response.type === "opaqueredirect" || response.status === 304) return response;
  const { body, status, statusText } = response;
  const headers = new Headers(response.headers);
  headers.set("Cross-Origin-Opener-Policy", "same-origin");
  headers.set("Cross-Origin-Embedder-Policy", "credentialless");
  return new Response(body, { status, statusText, headers });
}

async function install(): Promise<void> {
  const cache = await caches.open(cacheName);
  const kept = new Set((await cache.keys()).map(({ url }) => url));
  const missing = precache.filter((entry) => !kept.has(keyOf(entry, scope)));
  await Promise.all(missing.map((entry) => add(cache, entry)));
  await self.skipWaiting();
}

/** Throws if the server's file differs from the build, so that a half-deployed update is not installed. */
async function add(cache: Cache, entry: PrecacheEntry): Promise<void> {
  const { response, sha256 } = await download(new URL(entry.path, scope));
  if (!response.ok || sha256 !== entry.sha256) throw new Error(`${response.url} is not the file of this version.`);
  await cache.put(keyOf(entry, scope), response);
}

/**
 * The page may be downloading the same file, and in Chromium both share an entry of the HTTP cache: if one is aborted,
 * so is the other. A failed download is therefore retried once, past that cache.
 */
async function download(url: URL): Promise<{ response: Response; sha256: string }> {
  const read = async (mode: RequestCache) => {
    const response = await fetch(url, { cache: mode });
    const bytes = await response.clone().arrayBuffer();
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
    return { response, sha256: Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("") };
  };
  return read("no-cache").catch(() => read("no-store"));
}

/** Deletes files of earlier versions that no page can request any more. */
async function dropOld(): Promise<void> {
  if ((await self.clients.matchAll({ includeUncontrolled: true })).length > 1) return;
  const cache = await caches.open(cacheName);
  const current = new Set(precache.map((entry) => keyOf(entry, scope)));
  const old = (await cache.keys()).filter(({ url }) => !current.has(url));
  await Promise.all(old.map((request) => cache.delete(request)));
}

async function cached(entry: PrecacheEntry): Promise<Response | undefined> {
  return (await caches.open(cacheName)).match(keyOf(entry, scope));
}

async function fromCache(entry: PrecacheEntry, request: Request): Promise<Response> {
  return (await cached(entry)) ?? fetch(request);
}

/** Finds a file of an older version: a page that was open before an update may still request it. */
async function fromOlder(request: Request): Promise<Response> {
  return (await (await caches.open(cacheName)).match(request, { ignoreSearch: true })) ?? fetch(request);
}

/** Keeps a page of the documents when it is visited, until the next version. */
async function fromVisit(event: FetchEvent): Promise<Response> {
  const { request } = event;
  const cache = await caches.open(cacheName);
  try {
    const response = await fetch(request);
    // The page does not wait for it.
    if (response.ok) event.waitUntil(cache.put(request, response.clone()).catch(() => undefined));
    return response;
  } catch (error) {
    const copy = await cache.match(request, { ignoreSearch: true });
    if (copy) return copy;
    throw error;
  }
}

/** Fetches from the server and falls back to the cache. Unchanged files are not sent again. */
async function fromServer(entry: PrecacheEntry, request: Request): Promise<Response> {
  const copy = await cached(entry);
  if (copy === undefined) return fetch(request);
  const headers = new Headers();
  const etag = copy.headers.get("ETag");
  const modified = copy.headers.get("Last-Modified");
  if (etag) headers.set("If-None-Match", etag);
  else if (modified) headers.set("If-Modified-Since", modified);
  try {
    const tooLate = new Promise<null>((resolve) => setTimeout(resolve, PATIENCE_MS, null));
    const response = await Promise.race([fetch(request.url, { headers, cache: "no-store" }), tooLate]);
    return response === null || response.status === 304 || response.status >= 500 ? copy : response;
  } catch {
    return copy;
  }
}
