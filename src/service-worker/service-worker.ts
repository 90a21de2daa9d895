// Makes the app work without network after the first visit, and never stands in the way of what is new:
//
//   with network    the page, the model and the icons are asked for at the server (one "not modified" each), code with
//                   its hash in its name comes from the cache
//   without         everything comes from the cache, as one version put it there
//
// A new version puts what has changed beside what is there and takes over; pages that are open keep their files.

import { entryFor, keyOf, type PrecacheEntry } from "./precache.ts";

interface ExtendableEvent extends Event {
  waitUntil(promise: Promise<unknown>): void;
}
interface FetchEvent extends ExtendableEvent {
  readonly request: Request;
  respondWith(response: Promise<Response>): void;
}
/** Of ServiceWorkerGlobalScope, what is used here: TypeScript's own types of it can't stand beside the page's. */
interface WorkerScope {
  readonly registration: { readonly scope: string };
  readonly clients: { matchAll(options: { includeUncontrolled: boolean }): Promise<readonly unknown[]> };
  skipWaiting(): Promise<void>;
  addEventListener(type: "install" | "activate", listener: (event: ExtendableEvent) => void): void;
  addEventListener(type: "fetch", listener: (event: FetchEvent) => void): void;
}

/** Filled in by tools/service-worker-plugin.ts. */
declare const PRECACHE: readonly PrecacheEntry[];
declare const self: WorkerScope;

const precache = PRECACHE;
const { scope } = self.registration;
// Other folders of this host may have a Chorus of their own.
const cacheName = `chorus ${scope}`;
/** A server that takes longer than this to begin its answer counts as out of reach, where the cache has one. */
const PATIENCE_MS = 4000;

self.addEventListener("install", (event) => event.waitUntil(install()));
self.addEventListener("activate", (event) => event.waitUntil(dropOld()));
self.addEventListener("fetch", (event) => {
  const { request } = event;
  // A part of a file is the server's affair.
  if (request.method !== "GET" || request.headers.has("Range")) return;
  const entry = entryFor(precache, request.url, scope);
  if (entry) event.respondWith(entry.isImmutable ? fromCache(entry, request) : fromServer(entry, request));
  else if (request.url.startsWith(new URL("assets/", scope).href)) event.respondWith(fromOlder(request));
});

async function install(): Promise<void> {
  const cache = await caches.open(cacheName);
  const kept = new Set((await cache.keys()).map(({ url }) => url));
  const missing = precache.filter((entry) => !kept.has(keyOf(entry, scope)));
  await Promise.all(missing.map((entry) => add(cache, entry)));
  await self.skipWaiting();
}

/** Throws where the server has something else than was built: an update that is half there is not taken. */
async function add(cache: Cache, entry: PrecacheEntry): Promise<void> {
  const { response, sha256 } = await download(new URL(entry.path, scope));
  if (!response.ok || sha256 !== entry.sha256) throw new Error(`${response.url} is not the file of this version.`);
  await cache.put(keyOf(entry, scope), response);
}

/**
 * The page may be downloading the same file, and Chromium lets both share one entry of its HTTP cache: what breaks one of
 * them off then breaks off the other. So what fails is asked for once more, past that cache.
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

/** What an earlier version left, once no page can ask for it. */
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

/** A page that is still open from before an update may yet ask for code of its own version. */
async function fromOlder(request: Request): Promise<Response> {
  return (await (await caches.open(cacheName)).match(request, { ignoreSearch: true })) ?? fetch(request);
}

/** From the server, with the cache to fall back on; what has not changed is not sent again. */
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
