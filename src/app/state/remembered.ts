// Small choices kept in localStorage. It can be forbidden or full; a choice then lasts as long as the page.

const keyOf = (name: string) => `chorus.${name}`;

export function remembered(name: string): string | null {
  try {
    return localStorage.getItem(keyOf(name));
  } catch {
    return null;
  }
}

export function remember(name: string, value: string): void {
  try {
    localStorage.setItem(keyOf(name), value);
  } catch {
    // As said above.
  }
}

/** Returns whether a notice is new, and remembers it. Later starts may extend it. Null forgets it. */
export function isNewNotice(name: string, notice: string | null): boolean {
  const given = remembered(name) || null;
  const isNew = notice !== null && (given === null || !notice.startsWith(given));
  if (isNew || notice === null) remember(name, notice ?? "");
  return isNew;
}
