/** A thread's part [begin, end) of `count` items that take equally long. */
export interface Share {
  readonly begin: number;
  readonly end: number;
}

export function shareOf(count: number, thread: number, threads: number): Share {
  return { begin: Math.floor((count * thread) / threads), end: Math.floor((count * (thread + 1)) / threads) };
}
