/** The browser's Web Locks, as far as one lock of several tabs goes: taken by force, queued for, freed by its holder or with its tab. */
export class FakeLocks {
  #holder: Claim | null = null;
  #queue: Claim[] = [];

  /** A tab's own `navigator.locks`. */
  tab(): { readonly locks: Pick<LockManager, "request">; readonly close: () => void } {
    const tab = {};
    const request = (_name: string, options: LockOptions, granted: () => unknown): Promise<never> =>
      new Promise((_, reject) => {
        const claim: Claim = { tab, granted, reject: () => reject(new DOMException("Stolen.", "AbortError")) };
        options.signal?.addEventListener("abort", () => {
          this.#queue = this.#queue.filter((waiting) => waiting !== claim);
          claim.reject();
        });
        if (options.steal) {
          this.#holder?.reject();
          this.#grant(claim);
        } else {
          this.#queue.push(claim);
          this.#next();
        }
      });
    const close = () => {
      this.#queue = this.#queue.filter((claim) => claim.tab !== tab);
      if (this.#holder?.tab === tab) this.#holder = null;
      this.#next();
    };
    return { locks: { request: request as unknown as LockManager["request"] }, close };
  }

  #next(): void {
    const claim = this.#holder === null ? this.#queue.shift() : undefined;
    if (claim) this.#grant(claim);
  }

  #grant(claim: Claim): void {
    this.#holder = claim;
    void Promise.resolve()
      .then(claim.granted)
      .then(() => {
        if (this.#holder === claim) this.#holder = null;
        this.#next();
      });
  }
}

interface Claim {
  readonly tab: object;
  readonly granted: () => unknown;
  readonly reject: () => void;
}
