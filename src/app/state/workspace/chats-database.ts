import { promisifyRequest } from "idb-keyval";
import { attempt } from "../../attempt.ts";
import { withinTime } from "../../within-time.ts";

/** Chats by their ids, the list of panes and the settings for all panes. */
const CHATS_STORE = "chats";

const NAME = "chorus";
const VERSION = 2;
/** A busy computer may take seconds. Don't report "not saved" earlier: the write may still succeed. */
const LONGEST_WAIT_MS = 5000;

export interface ChatsDatabase {
  /**
   * Runs `work` in a transaction of the store. Rejects if there is no database, or after seconds: another page that is
   * about to upgrade a database can block its readers for ever. [after 5 s]
   */
  readonly transact: <Result>(
    mode: IDBTransactionMode,
    work: (store: IDBObjectStore) => Promise<Result>,
  ) => Promise<Result>;
  /**
   * Ends what runs, writes what needs no answer, and closes the connection: for a page that closes. WebKit keeps one for "Back",
   * stopped in the middle of its transactions, and other pages would wait for them.
   */
  readonly leave: (write: ((store: IDBObjectStore) => void) | null) => void;
}

/**
 * Opens the database of chats, and again whenever its connection has gone. An open connection would block the database's
 * deletion, so it is then closed at once.
 * @param onDeleted called when somebody deletes the database
 */
export function openChatsDatabase(onDeleted: () => void): ChatsDatabase {
  let opening: Promise<IDBDatabase> | null = null;
  const forget = () => {
    opening = null;
  };
  const open = async () => {
    const request = indexedDB.open(NAME, VERSION);
    request.addEventListener("upgradeneeded", () => {
      const { objectStoreNames } = request.result;
      if (!objectStoreNames.contains(CHATS_STORE)) request.result.createObjectStore(CHATS_STORE);
    });
    const database = await promisifyRequest(request);
    database.addEventListener("close", forget);
    database.addEventListener("versionchange", ({ newVersion }) => {
      forget();
      database.close();
      if (newVersion === null) onDeleted();
    });
    return database;
  };
  const running = new Set<IDBTransaction>();
  const begin = (database: IDBDatabase, mode: IDBTransactionMode) => {
    const transaction = database.transaction(CHATS_STORE, mode);
    running.add(transaction);
    for (const end of ["complete", "abort"]) transaction.addEventListener(end, () => running.delete(transaction));
    return transaction.objectStore(CHATS_STORE);
  };
  const transact: ChatsDatabase["transact"] = (mode, work) => {
    opening ??= open().catch((error: unknown) => {
      forget();
      throw error;
    });
    const done = opening.then((database) => work(begin(database, mode)));
    return withinTime(done, LONGEST_WAIT_MS, () => new Error("IndexedDB doesn't respond."));
  };
  const leave: ChatsDatabase["leave"] = (write) => {
    const connection = opening ?? (write && open());
    const leaving = connection?.then((database) => {
      // What commits already comes to its end.
      for (const transaction of running) attempt(() => transaction.abort(), null);
      write?.(begin(database, "readwrite"));
      database.close();
    });
    void leaving?.catch(() => undefined);
    forget();
  };
  return { transact, leave };
}
