/** In a page, before its scripts: a toast stays until it is closed. By itself it goes after seconds, which a busy machine may take. */
export function toastsStay(): void {
  const wait = globalThis.setTimeout;
  const waitToo = (run: TimerHandler, ms?: number, ...given: unknown[]) =>
    String(run).includes("dismissToast") ? 0 : wait(run, ms, ...given);
  Object.assign(globalThis, { setTimeout: waitToo });
}
