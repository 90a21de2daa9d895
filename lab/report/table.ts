/** Returns a table with the first column to the left, figures to the right. */
export function markdownTable(columns: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(columns), line(columns.map((_, i) => (i === 0 ? "---" : "---:"))), ...rows.map(line)];
}
