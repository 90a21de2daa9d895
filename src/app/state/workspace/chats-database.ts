import { promisifyRequest } from "idb-keyval";

/** The panes' record, under its name. */
export const PANES_STORE = "chats";
/** Closed chats, with the words for searches, by key. */
export const CLOSED_STORE = "closed";
/** Summaries of closed chats for lists, by key. */
export const SUMMARIES_STORE = "summaries";
/** Index of CLOSED_STORE by each word of a chat. */
export const WORDS_INDEX = "words";

const NAME = "chorus";
/** 2: closed chats. */
const VERSION = 2;

/** Runs `use` in a transaction over all stores. Rejects if there is no database. */
export type ChatsDatabase = <Result>(
  mode: IDBTransactionMode,
  use: (transaction: IDBTransaction) => Result | Promise<Result>,
) => Promise<Result>;

/**
 * Opens the database of chats, and again whenever its connection has gone. An open connection would block the database's
 * deletion, so it is then closed at once.
 *
 * @param onDeleted called when somebody deletes the database
 */
export function openChatsDatabase(onDeleted: () => void): ChatsDatabase {
  let opening: Promise<IDBDatabase> | null = null;
  const forget = () => {
    opening = null;
  };
  const open = async () => {
    const request = indexedDB.open(NAME, VERSION);
    request.addEventListener("upgradeneeded", () => addStores(request.result));
    const database = await promisifyRequest(request);
    database.addEventListener("close", forget);
    database.addEventListener("versionchange", ({ newVersion }) => {
      forget();
      database.close();
      if (newVersion === null) onDeleted();
    });
    return database;
  };
  return async (mode, use) => {
    opening ??= open().catch((error: unknown) => {
      forget();
      throw error;
    });
    const database = await opening;
    return use(database.transaction([PANES_STORE, CLOSED_STORE, SUMMARIES_STORE], mode));
  };
}

function addStores(database: IDBDatabase): void {
  const stores = database.objectStoreNames;
  if (!stores.contains(PANES_STORE)) database.createObjectStore(PANES_STORE);
  if (stores.contains(CLOSED_STORE)) return;
  database.createObjectStore(CLOSED_STORE).createIndex(WORDS_INDEX, WORDS_INDEX, { multiEntry: true });
  database.createObjectStore(SUMMARIES_STORE);
}
