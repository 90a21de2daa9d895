// Reads closed chats from IndexedDB. Loaded with the list of chats.

import { promisifyRequest } from "idb-keyval";
import { JsonReader } from "../json-reader.ts";
import { CLOSED_STORE, SUMMARIES_STORE, WORDS_INDEX, type ChatsDatabase } from "../workspace/chats-database.ts";
import { parseSavedChat, type SavedChat } from "../workspace/saved-workspace.ts";
import { withinTime } from "../workspace/within-time.ts";
import type { ChatSummary } from "./closed-chat.ts";

/** Reads closed chats. All methods reject if the browser has no storage for the page. */
export interface StoredChats {
  list(): Promise<readonly ChatSummary[]>;
  /** Returns the keys of chats that have all these words, or words that begin so. */
  find(words: ReadonlySet<string>): Promise<ReadonlySet<string>>;
  /** Returns a chat; null if it is not there any more. Rejects with a ChorusError if it is damaged. */
  read(key: string): Promise<SavedChat | null>;
  /** Returns all chats by their keys, without those that are damaged. */
  readAll(): Promise<readonly (readonly [key: string, chat: SavedChat])[]>;
}

export function storedChats(database: ChatsDatabase): StoredChats {
  const ask = <Result>(use: (transaction: IDBTransaction) => IDBRequest<Result>): Promise<Result> =>
    withinTime(database("readonly", (transaction) => promisifyRequest(use(transaction))));

  return {
    list: () => ask((transaction) => transaction.objectStore(SUMMARIES_STORE).getAll()),

    async find(words) {
      let found: Set<string> | undefined;
      for (const word of words) {
        // As hasWords of words.ts.
        const range = word.length > 1 ? IDBKeyRange.bound(word, `${word}\uffff`) : IDBKeyRange.only(word);
        const keys = await ask((transaction) =>
          transaction.objectStore(CLOSED_STORE).index(WORDS_INDEX).getAllKeys(range),
        );
        const before = found;
        found = new Set((keys as string[]).filter((key) => before === undefined || before.has(key)));
      }
      return found ?? new Set();
    },

    async read(key) {
      const record = await ask<unknown>((transaction) => transaction.objectStore(CLOSED_STORE).get(key));
      return record === undefined ? null : chatOf(record);
    },

    async readAll() {
      const [keys, records] = await withinTime(
        database("readonly", (transaction) => {
          const chats = transaction.objectStore(CLOSED_STORE);
          return Promise.all([promisifyRequest(chats.getAllKeys()), promisifyRequest<unknown[]>(chats.getAll())]);
        }),
      );
      return (keys as string[]).flatMap((key, index) => {
        try {
          return [[key, chatOf(records[index])] as const];
        } catch {
          return [];
        }
      });
    },
  };
}

function chatOf(record: unknown): SavedChat {
  return parseSavedChat(new JsonReader(record).field("chat"));
}
