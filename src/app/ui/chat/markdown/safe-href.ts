const SAFE_PROTOCOLS = ["http:", "https:", "mailto:"];

/** Returns an absolute address with a safe scheme; null for all others ("javascript:", "data:", "/here"). */
export function safeHref(href: string): string | null {
  if (!URL.canParse(href)) return null;
  return SAFE_PROTOCOLS.includes(new URL(href).protocol) ? href : null;
}
