// Formats numbers for the page.

const COUNT = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const TENTHS = new Intl.NumberFormat("en-US", { minimumFractionDigits: 1, maximumFractionDigits: 1 });

export function formatCount(value: number): string {
  return COUNT.format(value);
}

/** Formats a rate with about three digits: 0, 4.2, 38.5, 445, 1,729. */
export function formatRate(value: number): string {
  return value > 0 && value < 99.95 ? TENTHS.format(value) : COUNT.format(value);
}

const ORDINALS = new Intl.PluralRules("en-US", { type: "ordinal" });
const ENDINGS: Record<Intl.LDMLPluralRule, string> = {
  zero: "th",
  one: "st",
  two: "nd",
  few: "rd",
  many: "th",
  other: "th",
};

/** "1st", "22nd". */
export function formatOrdinal(value: number): string {
  return `${formatCount(value)}${ENDINGS[ORDINALS.select(value)]}`;
}

/** "64%" for 0.637. */
export function formatPercent(share: number): string {
  return `${COUNT.format(100 * share)}%`;
}

/** "5.9", "41": without the unit. */
export function formatMs(value: number): string {
  return value > 0 && value < 9.95 ? TENTHS.format(value) : COUNT.format(value);
}

/** "104 ms", "1.6 s": in the unit that needs few digits. */
export function formatDuration(ms: number): string {
  return ms < 999.5 ? `${COUNT.format(ms)} ms` : `${TENTHS.format(ms / 1000)} s`;
}

const MB = 1e6;
const GB = 1e9;

function inUnit(bytes: number, unit: number): string {
  const value = bytes / unit;
  return value < 10 ? TENTHS.format(value) : COUNT.format(value);
}

export function formatBytes(bytes: number): string {
  return bytes < GB ? `${inUnit(bytes, MB)} MB` : `${inUnit(bytes, GB)} GB`;
}

/** "162 of 249 MB": both in the unit of the whole. */
export function formatBytesOf(done: number, total: number): string {
  const unit = total < GB ? MB : GB;
  const digits = total / unit < 10 ? TENTHS : COUNT;
  return `${digits.format(done / unit)} of ${formatBytes(total)}`;
}

export function formatTimeLeft(msLeft: number): string {
  const seconds = Math.max(1, Math.round(msLeft / 1000));
  return seconds < 90 ? `${seconds} s left` : `${Math.round(seconds / 60)} min left`;
}
