/** Calls `tick` at regular times, from a call of the returned function on until `tick` returns false. */
export function ticker(intervalMs: number, tick: () => boolean): () => void {
  let timer: ReturnType<typeof setInterval> | undefined;
  const run = () => {
    if (tick()) return;
    clearInterval(timer);
    timer = undefined;
  };
  return () => {
    timer ??= setInterval(run, intervalMs);
  };
}
