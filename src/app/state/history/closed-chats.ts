import { randomId } from "../../../index.ts";
import { inParts } from "../in-parts.ts";
import { createStore, type ReadonlyStore } from "../store.ts";
import type { SavedChat } from "../workspace/saved-workspace.ts";
import { closedChat, type ClosedChat } from "./closed-chat.ts";

/** Changes to be stored together with the panes, in one transaction, so that a chat is always in one of both. */
export interface ChatMoves {
  /** Chats that were closed, by key. */
  readonly closed: ReadonlyMap<string, ClosedChat>;
  /** Keys of chats that were opened again or deleted. */
  readonly gone: ReadonlySet<string>;
}

/** Most chats to store or remove at once: an import may add thousands, and undoing it removes them again. */
const MAX_CLOSED_AT_ONCE = 25;
const MAX_GONE_AT_ONCE = 250;

/** Chats that left their panes or returned to them, until that is stored. */
export class ClosedChats {
  readonly #store = createStore<ChatMoves>(() => ({ closed: new Map(), gone: new Set() }));
  readonly store: ReadonlyStore<ChatMoves> = this.#store;
  /** Keys of all chats that this page took out, and did not add again. */
  readonly #removed = new Set<string>();

  /** Returns the chats' keys. */
  add(chats: readonly SavedChat[]): readonly string[] {
    return this.#add(chats.map(named));
  }

  /** Like `add`, for many chats: the page does not wait for all their names. */
  async addMany(chats: readonly SavedChat[]): Promise<readonly string[]> {
    return this.#add(await inParts(chats, named));
  }

  #add(added: readonly ClosedChat[]): readonly string[] {
    const keys = added.map(({ key }) => key);
    for (const key of keys) this.#removed.delete(key);
    this.#store.setState(({ closed, gone }) => ({
      closed: new Map([...closed, ...added.map((chat) => [chat.key, chat] as const)]),
      gone: without(gone, keys),
    }));
    return keys;
  }

  /** Removes chats that are in panes again, or to be deleted for good. */
  remove(keys: readonly string[]): void {
    for (const key of keys) this.#removed.add(key);
    this.#store.setState(({ closed, gone }) => {
      const rest = new Map(closed);
      for (const key of keys) rest.delete(key);
      return { closed: rest, gone: new Set([...gone, ...keys]) };
    });
  }

  /** Returns whether this page removed any of these since they were added. */
  hasRemoved(keys: readonly string[]): boolean {
    return keys.some((key) => this.#removed.has(key));
  }

  /** Whether something is still to be stored. */
  get isPending(): boolean {
    const { closed, gone } = this.#store.getState();
    return closed.size + gone.size > 0;
  }

  /** Returns the next changes to store: the newest first, since the panes stored with them don't have those chats any more. */
  next(): ChatMoves {
    const { closed, gone } = this.#store.getState();
    return {
      closed: new Map([...closed].slice(-MAX_CLOSED_AT_ONCE)),
      gone: new Set([...gone].slice(-MAX_GONE_AT_ONCE)),
    };
  }

  /** Forgets stored changes, unless they have changed since. */
  stored(moves: ChatMoves): void {
    if (moves.closed.size + moves.gone.size === 0) return;
    this.#store.setState(({ closed, gone }) => ({
      closed: new Map([...closed].filter(([key, chat]) => moves.closed.get(key) !== chat)),
      gone: without(gone, moves.gone),
    }));
  }
}

function named(chat: SavedChat): ClosedChat {
  return closedChat({ id: randomId(), ...chat }, Date.now());
}

function without(keys: ReadonlySet<string>, taken: Iterable<string>): ReadonlySet<string> {
  const rest = new Set(keys);
  for (const key of taken) rest.delete(key);
  return rest;
}
