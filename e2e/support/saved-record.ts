// The records of chats, as they lie in IndexedDB.

import { expect, type Page } from "playwright/test";
import { readRecords } from "./read-records.ts";

/** Returns the records of panes with chats, by the turns of each. */
export function recordsOf(...chats: readonly (readonly object[])[]): Record<string, unknown> {
  const places = chats.map((_, index) => ({ number: index + 1, id: `chat${index}` }));
  const records = chats.map((turns, index) => {
    const chat = { id: `chat${index}`, title: null, settings: {}, turns, contextStart: 0, draft: "" };
    return [`chat:chat${index}`, { chat, revision: `${index}.1`, past: [], savedMs: 0 }];
  });
  return { panes: { places, current: 1, save: "b" }, ...Object.fromEntries(records) };
}

/**
 * Replaces all records, by their keys. It runs in another file of the origin: the page would write on leaving. What the page
 * leaves to the next one goes, too; the database is deleted only after the page's last write to it.
 */
export async function overwrite(page: Page, records: Record<string, unknown>): Promise<void> {
  await page.goto(new URL("/icon.svg", process.env.CHORUS_E2E_FAKE_URL).href);
  await page.evaluate(async (records) => {
    const ended = (request: IDBOpenDBRequest | IDBTransaction, end: "success" | "complete") =>
      new Promise<void>((resolve, reject) => {
        request.addEventListener(end, () => resolve());
        request.addEventListener("error", () => reject(new Error(end)));
      });
    sessionStorage.clear();
    localStorage.clear();
    await ended(indexedDB.deleteDatabase("chorus"), "success");
    const opening = indexedDB.open("chorus");
    opening.addEventListener("upgradeneeded", () => opening.result.createObjectStore("chats"));
    await ended(opening, "success");
    const transaction = opening.result.transaction("chats", "readwrite");
    for (const [key, value] of Object.entries(records)) transaction.objectStore("chats").put(value, key);
    await ended(transaction, "complete");
    opening.result.close();
  }, records);
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
