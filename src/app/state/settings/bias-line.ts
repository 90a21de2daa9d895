/** Reads a line such as "Paris: 5" or "#464: -100": a text or a token's id, and a bias from -100 to 100; null if it isn't one. */
export function readBias(line: string): { readonly of: number | string; readonly bias: number } | null {
  const colon = line.lastIndexOf(":");
  const name = line.slice(0, Math.max(0, colon)).trim();
  const number = line.slice(colon + 1).trim();
  const bias = Number(number);
  if (name === "" || number === "" || !(Math.abs(bias) <= 100)) return null;
  return { of: /^#\d{1,9}$/.test(name) ? Number(name.slice(1)) : name, bias };
}
