/** Returns the base of relative URLs. A worker would resolve them against its own script. */
export function pageUrl(): string | undefined {
  return globalThis.document?.baseURI ?? globalThis.location?.href;
}
