/** Query heads [begin, end) of a row. */
export interface HeadShare {
  readonly row: number;
  readonly begin: number;
  readonly end: number;
}

/**
 * Returns a thread's part of the attention: heads of rows, so that all threads read about as much of the cache.
 * @param lengths positions that each row attends to
 */
export function attentionShares(
  lengths: readonly number[],
  heads: number,
  thread: number,
  threads: number,
): HeadShare[] {
  const total = heads * lengths.reduce((sum, length) => sum + length, 0);
  const first = (total * thread) / threads;
  const last = (total * (thread + 1)) / threads;
  const shares: HeadShare[] = [];
  let before = 0;
  lengths.forEach((length, row) => {
    // A head belongs to the thread whose part contains the head's beginning.
    const begin = headAfter(first - before, length, heads);
    const end = headAfter(last - before, length, heads);
    if (begin < end) shares.push({ row, begin, end });
    before += length * heads;
  });
  return shares;
}

function headAfter(distance: number, length: number, heads: number): number {
  return Math.min(heads, Math.max(0, Math.ceil(distance / length)));
}
