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
