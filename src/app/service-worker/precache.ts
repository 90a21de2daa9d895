import { attempt } from "../attempt.ts";

/** The files the app needs, as tools/plugins/service-worker-plugin.ts lists them when it builds. */
export interface PrecacheEntry {
  /** Relative to the app's folder; "" is the page itself. */
  readonly path: string;
  /** SHA-256 of the contents, hexadecimal. */
  readonly sha256: string;
  /** Whether the name has a hash of the contents (assets/index-B7s0x.js), so that it can never be out of date. */
  readonly isImmutable: boolean;
}

/** Returns a file's cache key, its path and hash, so that an update fetches only changed files. */
export function keyOf(entry: PrecacheEntry, scope: string): string {
  return new URL(`${entry.path}?sha256=${entry.sha256}`, scope).href;
}

/** Returns the entry for a request of `url`; the page may have any query. */
export function entryFor(entries: readonly PrecacheEntry[], url: string, scope: string): PrecacheEntry | undefined {
  const { origin, pathname } = new URL(url);
  const folder = new URL(scope);
  if (origin !== folder.origin || !pathname.startsWith(folder.pathname)) return undefined;
  const path = attempt(() => decodeURIComponent(pathname.slice(folder.pathname.length)), null);
  return entries.find((entry) => entry.path === (path === "index.html" ? "" : path));
}
