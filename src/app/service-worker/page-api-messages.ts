// What a service worker and the pages of its scope say to each other, so that a page's engine answers requests of the origin.
// Only structured clones and ports cross: not every browser can transfer a stream.

/** To every page of the origin: who answers for this scope? A page that does sends an ApiOffer through the port. */
export interface ApiCall {
  readonly type: "chorus-api";
  readonly scope: string;
}

/** From a page through the port: whether it answers. */
export interface ApiOffer {
  readonly answers: boolean;
}

/** A request, as it crosses. */
export interface ApiRequest {
  /** Within the scope: "/v1/models?x". */
  readonly path: string;
  readonly method: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: ArrayBuffer;
}

export interface ApiHead {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
}

/** From the service worker, numbered: the request, the reader wants more, the reader left. */
export type ToPage = { readonly request: ApiRequest } | { readonly pull: true } | { readonly cancel: true };

/** From the page, numbered: the response's head, a piece of its body, its end, or why it broke off. */
export type FromPage =
  | { readonly head: ApiHead }
  | { readonly bytes: Uint8Array }
  | { readonly end: true }
  | { readonly error: string };

/** To the service worker: take over this page at once, so that its own requests are answered too. */
export const CLAIM = "chorus-api-claim";

/** The name of the cache that exists while the API is switched on: the one memory that both sides share. */
export function switchName(scope: string): string {
  return `chorus-api ${scope}`;
}
