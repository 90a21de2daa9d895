/** Returns a half's value by the definition of the format, through text instead of arithmetic on doubles. */
export function halfByDefinition(bits: number): number {
  const text = bits.toString(2).padStart(16, "0");
  const sign = text[0] === "1" ? -1 : 1;
  const exponent = parseInt(text.slice(1, 6), 2);
  const fraction = Array.from(text.slice(6)).reduce((sum, bit, i) => sum + Number(bit) * 2 ** -(i + 1), 0);
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
  return exponent === 0 ? sign * fraction * 2 ** -14 : sign * (1 + fraction) * 2 ** (exponent - 15);
}
