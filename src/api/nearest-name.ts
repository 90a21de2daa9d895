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

/** Returns the Levenshtein distance: fewest characters to insert, delete or replace. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (const [i, characterA] of Array.from(a).entries()) {
    const next = [i + 1];
    for (const [j, characterB] of Array.from(b).entries()) {
      const replace = (row[j] ?? 0) + (characterA === characterB ? 0 : 1);
      next.push(Math.min(replace, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
