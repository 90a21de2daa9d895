// The record of all chats, as it lies in IndexedDB.

import { expect, type Page } from "playwright/test";

/**
 * Writes the saved record, as the page does. It runs in another file of the origin: the page would overwrite it on leaving.
 */
export async function overwrite(page: Page, record: unknown): Promise<void> {
  await page.goto(new URL("/icon.svg", process.env.CHORUS_E2E_FAKE_URL).href);
  await page.evaluate(
    (record) =>
      new Promise<void>((resolve, reject) => {
        const opening = indexedDB.open("chorus");
        opening.addEventListener("error", () => reject(new Error("open")));
        opening.addEventListener("upgradeneeded", () => opening.result.createObjectStore("chats"));
        opening.addEventListener("success", () => {
          const transaction = opening.result.transaction("chats", "readwrite");
          transaction.objectStore("chats").put(record, "workspace");
          transaction.addEventListener("complete", () => {
            opening.result.close();
            resolve();
          });
        });
      }),
    record,
  );
}

/** Waits until `words` are in the saved record: changes are saved half a second later. */
export async function written(page: Page, words: string): Promise<void> {
  const kept = () =>
    page.evaluate(
      () =>
        new Promise<string>((resolve, reject) => {
          const opening = indexedDB.open("chorus");
          opening.addEventListener("error", () => reject(new Error("open")));
          // Where the page has not made it again yet.
          opening.addEventListener("upgradeneeded", () => opening.result.createObjectStore("chats"));
          opening.addEventListener("success", () => {
            const reading = opening.result.transaction("chats").objectStore("chats").get("workspace");
            reading.addEventListener("error", () => reject(new Error("get")));
            reading.addEventListener("success", () => {
              opening.result.close();
              resolve(JSON.stringify(reading.result ?? null));
            });
          });
        }),
    );
  await expect.poll(kept).toContain(words);
}

/** Waits until so many closed chats are stored. */
export async function closedAre(page: Page, number: number): Promise<void> {
  const count = () =>
    page.evaluate(
      () =>
        new Promise<number>((resolve, reject) => {
          const opening = indexedDB.open("chorus");
          opening.addEventListener("error", () => reject(new Error("open")));
          opening.addEventListener("success", () => {
            const counting = opening.result.transaction("closed").objectStore("closed").count();
            counting.addEventListener("error", () => reject(new Error("count")));
            counting.addEventListener("success", () => {
              opening.result.close();
              resolve(counting.result);
            });
          });
        }),
    );
  await expect.poll(count).toBe(number);
}
