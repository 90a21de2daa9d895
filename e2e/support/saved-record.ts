// The records of chats, as they lie in IndexedDB.

import { expect, type Page } from "playwright/test";

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

/** Returns the records of a pane with a chat. */
export function recordsOf(turns: readonly object[]): Record<string, unknown> {
  const chat = { id: "a", title: null, settings: {}, turns, firstSent: 0, draft: "" };
  return {
    panes: { places: [{ number: 1, id: "a" }], current: 1, save: "b" },
    "chat:a": { chat, revision: "c.1", past: [], savedMs: 0 },
  };
}

/** Replaces all records, by their keys. It runs in another file of the origin: the page would write on leaving. */
export async function overwrite(page: Page, records: Record<string, unknown>): Promise<void> {
  await page.goto(new URL("/icon.svg", process.env.CHORUS_E2E_FAKE_URL).href);
  await page.evaluate(
    (records) =>
      new Promise<void>((resolve, reject) => {
        sessionStorage.clear();
        const opening = indexedDB.open("chorus");
        opening.addEventListener("error", () => reject(new Error("open")));
        opening.addEventListener("upgradeneeded", () => opening.result.createObjectStore("chats"));
        opening.addEventListener("success", () => {
          const transaction = opening.result.transaction("chats", "readwrite");
          transaction.objectStore("chats").clear();
          for (const [key, value] of Object.entries(records)) transaction.objectStore("chats").put(value, key);
          transaction.addEventListener("complete", () => {
            opening.result.close();
            resolve();
          });
        });
      }),
    records,
  );
}

/** Waits until `words` are in a stored chat: changes are saved half a second later. */
export async function written(page: Page, words: string): Promise<void> {
  const chats = async () =>
    JSON.stringify(Object.entries(await page.evaluate(readRecords)).filter(([key]) => key.startsWith("chat:")));
  await expect.poll(chats).toContain(words);
}

/** Waits until so many stored chats are in no pane of the list that was saved last. */
export async function closedAre(page: Page, number: number): Promise<void> {
  const count = async () => {
    const records = await page.evaluate(readRecords);
    const open = JSON.stringify(records.panes ?? null);
    return Object.keys(records).filter((key) => key.startsWith("chat:") && !open.includes(key.slice(5))).length;
  };
  await expect.poll(count).toBe(number);
}
