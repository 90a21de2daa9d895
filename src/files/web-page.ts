// Recognises the web pages that hosts send instead of a missing file: single-page apps answer every unknown path with one.

/** Returns whether an answer is declared as a web page. */
export function isWebPage({ headers }: Response): boolean {
  return /^\s*(?:text\/html|application\/xhtml\+xml)\b/i.test(headers.get("content-type") ?? "");
}

export const WEB_PAGE_INSTEAD = "the server answered with a web page instead";

/** Returns why an answer is not the requested file; null if it may be. */
export function whyMissing(response: Response): string | null {
  if (response.status === 404) return "the server answered 404";
  return isWebPage(response) ? WEB_PAGE_INSTEAD : null;
}

/** Returns whether a file begins as a web page does, whatever its declared type. */
export function looksLikeWebPage(file: Uint8Array): boolean {
  const beginning = new TextDecoder().decode(file.subarray(0, 4096));
  return /^\s*(?:<!--.*?-->\s*)*<(?:!doctype|html|\?xml)\b/is.test(beginning);
}
