/** Runs in the page: returns the stored chats, the list of panes, and all else, by their keys. */
export function readRecords(): Promise<Record<string, unknown>> {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open("chorus");
    opening.addEventListener("error", () => reject(new Error("open")));
    // Where the page has not made it again yet.
    opening.addEventListener("upgradeneeded", () => opening.result.createObjectStore("chats"));
    opening.addEventListener("success", () => {
      const store = opening.result.transaction("chats").objectStore("chats");
      const [keys, values] = [store.getAllKeys(), store.getAll()];
      values.addEventListener("error", () => reject(new Error("get")));
      values.addEventListener("success", () => {
        opening.result.close();
        resolve(Object.fromEntries(keys.result.map((key, index) => [key, values.result[index]])));
      });
    });
  });
}
