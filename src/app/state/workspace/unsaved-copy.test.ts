import { expect, it } from "vitest";
import { FakeStorage } from "../../../../tests/app/fake-database.ts";
import type { LeftSave } from "./chat-record.ts";
import { copiesLeft, dropCopy, keepList, keptList, leaveCopy } from "./unsaved-copy.ts";

const copyOf = (draft: string): LeftSave => ({
  changes: [
    {
      id: "a",
      chat: { title: null, settings: {}, turns: [], contextStart: 0, draft },
      from: ["before"],
      revision: "now",
      copyId: "copy",
      savedMs: 5,
    },
    { id: "b", chat: null, from: [], revision: "gone", copyId: "none", savedMs: 5 },
  ],
  places: [{ number: 2, id: "a" }],
  current: 2,
  shared: { seed: 3 },
  saves: ["before", "now"],
});

it("the next page finds what earlier pages left, until it is dropped", () => {
  const storage = new FakeStorage();
  leaveCopy(storage, "one", copyOf("first"));
  leaveCopy(storage, "one", copyOf("second"));
  leaveCopy(storage, "two", copyOf("third"));
  expect([...copiesLeft(storage)]).toEqual([
    ["one", copyOf("second")],
    ["two", copyOf("third")],
  ]);
  dropCopy(storage, "one");
  expect([...copiesLeft(storage).keys()]).toEqual(["two"]);
});

it("gives what is no JSON as it is, and leaves alone what is not its own", () => {
  const storage = new FakeStorage();
  storage.setItem("theme", "dark");
  storage.setItem("chorus.left.cut", "{");
  expect([...copiesLeft(storage)]).toEqual([["cut", "{"]]);
});

it("does without where nothing may be stored, or there is no space", () => {
  expect(leaveCopy(null, "one", copyOf("first"))).toBe(false);
  dropCopy(null, "one");
  expect(copiesLeft(null).size).toBe(0);
  const small = new FakeStorage(JSON.stringify(copyOf("first")).length + 200);
  expect(leaveCopy(small, "one", copyOf("first"))).toBe(true);
  // What is older than the last edits is not left in their place.
  expect(leaveCopy(small, "one", copyOf("much longer".repeat(100)))).toBe(false);
  expect(copiesLeft(small).size).toBe(0);
  const broken = new FakeStorage();
  const fail = () => {
    throw new DOMException("Corrupted.", "NS_ERROR_FILE_CORRUPTED");
  };
  broken.removeItem = fail;
  expect(() => dropCopy(broken, "one")).not.toThrow();
  // Firefox throws at the names as well.
  broken.setItem("chorus.left.one", "{}");
  broken.key = fail;
  expect(copiesLeft(broken).size).toBe(0);
  Object.defineProperty(broken, "length", { get: fail });
  expect(copiesLeft(broken).size).toBe(0);
});

it("a tab has its list of panes; one that can't be read is none", () => {
  const storage = new FakeStorage();
  expect([keptList(null), keptList(storage)]).toEqual([null, null]);
  keepList(storage, copyOf("first"));
  expect(keptList(storage)).toEqual({ places: [{ number: 2, id: "a" }], current: 2 });
  storage.setItem("chorus.panes", '{"places":7}');
  expect(keptList(storage)).toBeNull();
});
