import type { ChatsDatabase } from "../../src/app/state/workspace/chats-database.ts";
import type { CopyStorage } from "../../src/app/state/workspace/unsaved-copy.ts";

const isIn = (key: string, range?: IDBKeyRange) =>
  range === undefined || (key >= String(range.lower) && key <= String(range.upper));

/**
 * The database of chats and the storages of one browser, in memory, for several tabs: transactions follow one another, and
 * write all or nothing.
 */
export class FakeDatabase {
  chats = new Map<string, unknown>();
  readonly copies = new FakeStorage();
  /** Characters for which there is space. */
  space = Infinity;
  /** Whether it can be read. */
  isReadable = true;
  /** Number of transactions that wrote something. */
  numWrites = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor() {
    Object.assign(globalThis, { IDBKeyRange: { bound: (lower: string, upper: string) => ({ lower, upper }) } });
  }

  /** A tab's connection. */
  connect(): { readonly database: ChatsDatabase; readonly tab: TabLife } {
    const tab: TabLife = { isDead: false, isClosing: false };
    const never = new Promise<never>(() => undefined);
    const transact: ChatsDatabase["transact"] = (mode, work) => {
      const done = this.#last.then(() => (tab.isDead ? null : this.#run(mode, work, tab)));
      this.#last = done.catch(() => undefined);
      return done.then((result) => (tab.isDead || result === null ? never : result.value));
    };
    const leave: ChatsDatabase["leave"] = (write) => {
      if (write) void transact("readwrite", async (store) => write(store)).catch(() => undefined);
    };
    return { database: { transact, leave }, tab };
  }

  async #run<Result>(
    mode: IDBTransactionMode,
    work: (store: IDBObjectStore) => Promise<Result>,
    tab: TabLife,
  ): Promise<{ readonly value: Result } | null> {
    if (!this.isReadable) throw new DOMException("No.", "UnknownError");
    const store = new Map(this.chats);
    const transaction = { ...new FakeRequest(), mode, commit };
    const answer = (result: unknown) => {
      const request = new FakeRequest();
      request.result = structuredClone(result);
      if (!tab.isClosing) queueMicrotask(() => request.onsuccess?.());
      return request;
    };
    function objectStore() {
      const keys = (range?: IDBKeyRange) => [...store.keys()].toSorted().filter((key) => isIn(key, range));
      return {
        transaction,
        get: (key: string) => answer(store.get(key)),
        getAll: (range?: IDBKeyRange) => answer(keys(range).map((key) => store.get(key))),
        getAllKeys: (range?: IDBKeyRange) => answer(keys(range)),
        put: (value: unknown, key: string) => answer(void store.set(key, structuredClone(value))),
        delete: (key: string) => answer(store.delete(key)),
      };
    }
    let isCommitted = false;
    const write = () => {
      if (isCommitted || mode === "readonly" || tab.isDead) return;
      isCommitted = true;
      if (JSON.stringify([...store]).length > this.space) {
        Object.assign(transaction, { error: new DOMException("Full.", "QuotaExceededError") });
        throw new DOMException("Full.", "QuotaExceededError");
      }
      this.numWrites++;
      this.chats = store;
    };
    function commit() {
      queueMicrotask(() => {
        try {
          write();
          transaction.oncomplete?.();
        } catch {
          transaction.onabort?.();
        }
      });
    }
    const used = work(objectStore() as unknown as IDBObjectStore);
    // Only what is written without waiting for an answer arrives.
    void used.catch(() => undefined);
    if (tab.isClosing) return new Promise((resolve) => queueMicrotask(() => resolve(null)));
    const value = await used;
    write();
    return { value };
  }
}

interface TabLife {
  /** What the tab does from now on, or waits for, never happens. */
  isDead: boolean;
  /** The database answers no more. */
  isClosing: boolean;
}

class FakeRequest {
  result: unknown = undefined;
  oncomplete: (() => void) | null = null;
  onsuccess: (() => void) | null = null;
  onabort: (() => void) | null = null;
  onerror: (() => void) | null = null;
}

/** localStorage or sessionStorage, for so many characters. */
export class FakeStorage implements CopyStorage {
  readonly items = new Map<string, string>();
  readonly space: number;

  constructor(space = Infinity) {
    this.space = space;
  }

  get length(): number {
    return this.items.size;
  }

  key(index: number): string | null {
    return [...this.items.keys()][index] ?? null;
  }

  getItem(key: string): string | null {
    return this.items.get(key) ?? null;
  }

  setItem(key: string, value: string): void {
    if (value.length > this.space) throw new DOMException("Full.", "QuotaExceededError");
    this.items.set(key, value);
  }

  removeItem(key: string): void {
    this.items.delete(key);
  }
}
