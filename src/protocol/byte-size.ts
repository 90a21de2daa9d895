import { groupedNumber } from "./grouped-number.ts";

const UNITS = [
  [1e9, "GB"],
  [1e6, "MB"],
  [1e3, "kB"],
] as const;

/** Writes a size for people: "16.5 GB", "269 MB", "800 bytes". */
export function byteSize(bytes: number): string {
  const [unit, name] = UNITS.find(([size]) => bytes >= size) ?? [1, "bytes"];
  return `${groupedNumber(bytes / unit, unit > 1 && bytes < 99.5 * unit ? 1 : 0)} ${name}`;
}
