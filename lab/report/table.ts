// Tables of figures: as Markdown for a file, and in columns for a terminal. Machines are noisy, and the seconds of two runs don't
// compare: benchmarks print ratios of one run.

/** Returns a table with the first column to the left, figures to the right. */
export function markdownTable(columns: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(columns), line(columns.map((_, i) => (i === 0 ? "---" : "---:"))), ...rows.map(line)];
}

/** Prints right-aligned columns, each as wide as needed. */
export function printTable(
  title: string,
  head: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): void {
  const cells = [head, ...rows].map((row) => row.map(String));
  const widths = head.map((_, i) => Math.max(...cells.map((row) => row[i]?.length ?? 0)));
  const lines = cells.map((row) => row.map((cell, i) => cell.padStart(widths[i] ?? 0)).join("   "));
  console.log(`\n${title}\n\n${lines.join("\n")}\n`);
}
