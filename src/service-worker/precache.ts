/** The files the app needs, as tools/service-worker-plugin.ts lists them when it builds. */
export interface PrecacheEntry {
  /** Relative to the app's folder; "" is the page itself. */
  readonly path: string;
  /** SHA-256 of the contents, hexadecimal. */
  readonly sha256: string;
  /** Whether the name says what is in it (assets/index-B7s0x.js), so that it can never be out of date. */
  readonly isImmutable: boolean;
}

/** A file is kept under its path and contents: what an update leaves as it was is not fetched again. */
export function keyOf(entry: PrecacheEntry, scope: string): string {
  return new URL(`${entry.path}?sha256=${entry.sha256}`, scope).href;
}

/** The entry that answers a request for `url`; the page may have any query. */
export function entryFor(entries: readonly PrecacheEntry[], url: string, scope: string): PrecacheEntry | undefined {
  const { origin, pathname } = new URL(url);
  const folder = new URL(scope);
  if (origin !== folder.origin || !pathname.startsWith(folder.pathname)) return undefined;
  const path = decodeURI(pathname.slice(folder.pathname.length));
  return entries.find((entry) => entry.path === (path === "index.html" ? "" : path));
}
