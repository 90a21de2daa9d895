/** Returns the name that was probably meant, if one is near enough: max_token -> max_tokens, topP -> top_p. */
export function nearestName(given: string, names: readonly string[]): string | undefined {
  if (given.length > 64) return undefined;
  const ranked = names
    .map((name) => ({ name, distance: editDistance(plain(given), plain(name)) }))
    .sort((a, b) => a.distance - b.distance);
  const best = ranked[0];
  return best !== undefined && best.distance <= best.name.length / 4 ? best.name : undefined;
}

/** Removes differences of naming style: maxTokens and max_tokens become the same. */
function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, "");
}

/** Returns the fewest characters to insert, delete or replace, and pairs of neighbours to swap. */
function editDistance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 0; i < a.length; i++) {
    const [last = [], before] = [rows[i], rows[i - 1]];
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const replace = (last[j] ?? 0) + (a[i] === b[j] ? 0 : 1);
      const isSwap = a[i] === b[j - 1] && a[i - 1] === b[j];
      const swap = isSwap ? (before?.[j - 1] ?? Infinity) + 1 : Infinity;
      next.push(Math.min(replace, swap, (last[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    rows.push(next);
  }
  return rows.at(-1)?.at(-1) ?? 0;
}
