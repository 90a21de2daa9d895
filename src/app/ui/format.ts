/**
 * Writes a number in English: "1,729", "38.5". Intl.NumberFormat does that too, but the first one takes a page or a worker
 * 13 to 40 ms: it reads the browser's tables of languages.
 * @param value finite, below 1e21
 * @param digits after the point [0]
 */
export function groupedNumber(value: number, digits = 0): string {
  const [whole = "", fraction] = value.toFixed(digits).split(".");
  const grouped = whole.replaceAll(/\B(?=(\d{3})+$)/g, ",");
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

export function formatCount(value: number): string {
  return groupedNumber(value);
}

/** Returns the noun's form after this number: "token" after 1, else "tokens". */
export function plural(count: number, noun: string): string {
  return count === 1 ? noun : `${noun}s`;
}

/** "1 token", "1,729 tokens". */
export function formatCounted(count: number, noun: string): string {
  return `${formatCount(count)} ${plural(count, noun)}`;
}

/** Formats a value; null, one that is not known, is a dash. */
export function orDash<Value>(value: Value | null, format: (value: Value) => string): string {
  return value === null ? "–" : format(value);
}

/** Formats a rate with about three digits: 0, 4.2, 38.5, 445, 1,729. */
export function formatRate(value: number): string {
  return groupedNumber(value, value > 0 && value < 99.95 ? 1 : 0);
}

const ENDINGS = ["th", "st", "nd", "rd"];

/** "1st", "11th", "22nd". */
export function formatOrdinal(value: number): string {
  const isTeen = Math.floor(value / 10) % 10 === 1;
  return `${formatCount(value)}${(isTeen ? undefined : ENDINGS[value % 10]) ?? "th"}`;
}

/** "64%" for 0.637. */
export function formatPercent(share: number): string {
  return `${groupedNumber(100 * share)}%`;
}

/** "5.9", "41": without the unit. */
export function formatMs(value: number): string {
  return groupedNumber(value, value > 0 && value < 9.95 ? 1 : 0);
}

/** "104 ms", "1.6 s": in the unit that needs few digits. */
export function formatDuration(ms: number): string {
  return ms < 999.5 ? `${groupedNumber(ms)} ms` : `${groupedNumber(ms / 1000, 1)} s`;
}

const MB = 1e6;
const GB = 1e9;

export function formatBytes(bytes: number): string {
  const [unit, name] = bytes < GB ? [MB, "MB"] : [GB, "GB"];
  return `${groupedNumber(bytes / unit, bytes / unit < 10 ? 1 : 0)} ${name}`;
}

/** "162 of 249 MB": both in the unit of the whole. */
export function formatBytesOf(done: number, total: number): string {
  const unit = total < GB ? MB : GB;
  const digits = total / unit < 10 ? 1 : 0;
  return `${groupedNumber(done / unit, digits)} of ${formatBytes(total)}`;
}

export function formatTimeLeft(msLeft: number): string {
  const seconds = Math.max(1, Math.round(msLeft / 1000));
  return seconds < 90 ? `${seconds} s left` : `${Math.round(seconds / 60)} min left`;
}
