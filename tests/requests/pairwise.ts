/**
 * Returns rows of a table's values in which every two values of two columns meet: far fewer than all combinations. Always the same.
 */
export function pairwise<Value>(table: Readonly<Record<string, readonly Value[]>>): Record<string, Value>[] {
  const columns = Object.entries(table);
  const pair = (a: number, i: number, b: number, j: number) => (a < b ? `${a}.${i} ${b}.${j}` : `${b}.${j} ${a}.${i}`);
  const open = new Set<string>();
  for (const [b, [, values]] of columns.entries()) {
    for (let a = 0; a < b; a++) {
      columns[a]?.[1].forEach((_, i) => values.forEach((__, j) => void open.add(pair(a, i, b, j))));
    }
  }
  const rows: Record<string, Value>[] = [];
  while (open.size > 0) {
    // The first pair that has not met, and column by column the value that meets most of the row's for the first time.
    const [first = ""] = open;
    const row = new Map(first.split(" ").map((at) => at.split(".").map(Number) as [number, number]));
    const numNew = (b: number, j: number) => [...row].filter(([a, i]) => open.has(pair(a, i, b, j))).length;
    for (const [b, [, values]] of columns.entries()) {
      if (row.has(b)) continue;
      const counts = values.map((_, j) => numNew(b, j));
      row.set(b, counts.indexOf(Math.max(...counts)));
    }
    for (const [a, i] of row) for (const [b, j] of row) open.delete(pair(a, i, b, j));
    rows.push(Object.fromEntries(columns.map(([name, values], at) => [name, values[row.get(at) ?? 0] as Value])));
  }
  return rows;
}
