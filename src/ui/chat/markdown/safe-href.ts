const SAFE_PROTOCOLS = ["http:", "https:", "mailto:"];

/** An address of another place, whole and of a known kind; null for all else ("javascript:", "data:", "/here"). */
export function safeHref(href: string): string | null {
  if (!URL.canParse(href)) return null;
  return SAFE_PROTOCOLS.includes(new URL(href).protocol) ? href : null;
}
