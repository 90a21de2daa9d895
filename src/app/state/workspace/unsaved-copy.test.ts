import { expect, it } from "vitest";
import { closedChat } from "../history/closed-chat.ts";
import { parseSavedWorkspace, savedWorkspace, type SavedPane } from "./saved-workspace.ts";
import { copiesLeft, dropCopy, leaveCopy, placeOfCopy, type CopyStorage, type UnsavedCopy } from "./unsaved-copy.ts";

const pane = (draft: string): SavedPane => ({
  id: `id of ${draft}`,
  number: 1,
  title: null,
  settings: {},
  turns: [{ id: 0, question: "Why?", answer: "Because", end: null }],
  firstSent: 0,
  draft,
});
const copyOf = (draft: string, saves: readonly string[] = ["before", "now"]): UnsavedCopy => {
  const closed = closedChat({ ...pane("closed"), id: "closed" }, 5);
  return {
    saves,
    workspace: savedWorkspace({ current: 1, shared: { seed: 3 }, panes: [pane(draft)] }),
    moves: { closed: new Map([[closed.key, closed]]), gone: new Set(["opened again"]) },
  };
};

function fail(): never {
  throw new DOMException("Corrupted.", "NS_ERROR_FILE_CORRUPTED");
}

/** A storage for so many characters. */
function storageOf(space = Infinity): CopyStorage & { readonly items: Map<string, string> } {
  const items = new Map<string, string>();
  return {
    items,
    get length() {
      return items.size;
    },
    key: (index) => [...items.keys()][index] ?? null,
    getItem: (key) => items.get(key) ?? null,
    setItem(key, value) {
      if (value.length > space) throw new DOMException("Full.", "QuotaExceededError");
      items.set(key, value);
    },
    removeItem: (key) => void items.delete(key),
  };
}

it("the next page finds what earlier pages left, until it is dropped", () => {
  const storage = storageOf();
  leaveCopy(storage, "one", copyOf("first"));
  leaveCopy(storage, "one", copyOf("second"));
  leaveCopy(storage, "two", copyOf("aside", []));
  const left = copiesLeft(storage);
  expect([...left.keys()]).toEqual(["one", "two"]);
  const { closed } = copyOf("second").moves;
  expect(left.get("one")).toEqual({
    ...copyOf("second"),
    workspace: parseSavedWorkspace(copyOf("second").workspace),
    moves: {
      closed: new Map(
        [...closed].map(([key, chat]) => [key, { ...chat, chat: expect.objectContaining({ id: "closed" }) }]),
      ),
      gone: new Set(["opened again"]),
    },
  });
  dropCopy(storage, "one");
  expect([...copiesLeft(storage).values()]).toMatchObject([{ saves: [], workspace: { panes: [{ draft: "aside" }] } }]);
});

it("drops what can't be read, and leaves alone what is not its own", () => {
  const storage = storageOf();
  storage.setItem("theme", "dark");
  storage.setItem("chorus.unsaved.cut", "{");
  storage.setItem(
    "chorus.unsaved.later",
    JSON.stringify({ saves: [], closed: [], gone: [], workspace: { version: 99 } }),
  );
  expect(copiesLeft(storage).size).toBe(0);
  expect([...storage.items.keys()]).toEqual(["theme"]);
});

it("does without where nothing may be stored, or there is no space", () => {
  leaveCopy(null, "one", copyOf("first"));
  dropCopy(null, "one");
  expect(copiesLeft(null).size).toBe(0);
  const small = storageOf(JSON.stringify(copyOf("first")).length + 200);
  leaveCopy(small, "one", copyOf("first"));
  expect(copiesLeft(small).size).toBe(1);
  // What is older than the last edits is not left in their place.
  leaveCopy(small, "one", copyOf("much longer".repeat(100)));
  expect(copiesLeft(small).size).toBe(0);
  const broken = { ...storageOf(), removeItem: () => fail() };
  expect(() => dropCopy(broken, "one")).not.toThrow();
});

it("replaces only what its page knew: another tab's chats stay", () => {
  const copy = copyOf("last", ["read", "under way", "last"]);
  expect(placeOfCopy(copy, "last", "")).toBe("arrived");
  expect(placeOfCopy(copy, "under way", "")).toBe("newer");
  expect(placeOfCopy(copy, "read", "")).toBe("newer");
  expect(placeOfCopy(copy, "another tab's", "")).toBe("other");
  const aside = copyOf("aside", ["own"]);
  expect(placeOfCopy(aside, "another tab's", "")).toBe("other");
  expect(placeOfCopy(aside, "another tab's", "before")).toBe("other");
  expect(placeOfCopy(aside, "another tab's", "own")).toBe("arrived");
});
