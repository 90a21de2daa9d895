import { promisifyRequest, type UseStore } from "idb-keyval";

/**
 * Opens an IndexedDB store, and again whenever its connection has gone. A page that holds on to a database blocks whoever
 * wants to delete it, so it lets go at once.
 *
 * @param onDeleted called when somebody deletes the database
 */
export function openChatsDatabase(name: string, storeName: string, onDeleted: () => void): UseStore {
  let opening: Promise<IDBDatabase> | null = null;
  const forget = () => {
    opening = null;
  };
  const open = async () => {
    const request = indexedDB.open(name);
    request.addEventListener("upgradeneeded", () => request.result.createObjectStore(storeName));
    const database = await promisifyRequest(request);
    database.addEventListener("close", forget);
    database.addEventListener("versionchange", () => {
      forget();
      database.close();
      onDeleted();
    });
    return database;
  };
  return async (mode, use) => {
    opening ??= open().catch((error: unknown) => {
      forget();
      throw error;
    });
    const database = await opening;
    return use(database.transaction(storeName, mode).objectStore(storeName));
  };
}
