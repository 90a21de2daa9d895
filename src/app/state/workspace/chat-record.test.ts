import { expect, it } from "vitest";
import { applyChanges, DAMAGED, readRecord, type Change, type ChatRecord } from "./chat-record.ts";
import type { SavedChat } from "./saved-workspace.ts";

const chat = (draft: string): SavedChat => ({ title: null, settings: {}, turns: [], contextStart: 0, draft });
const record = (draft: string, revision: string, ...past: readonly string[]): ChatRecord => ({
  chat: { ...chat(draft), id: "a" },
  revision,
  past,
  savedMs: 1,
});
const change = (draft: string | null, from: readonly string[], revision: string): Change => ({
  id: "a",
  chat: draft === null ? null : chat(draft),
  from,
  revision,
  copyId: "copy",
  savedMs: 2,
});
function applied(stored: ChatRecord, ...changes: readonly Change[]) {
  const records = new Map([["a", stored]]);
  applyChanges(records, changes);
  return [...records].map(
    ([
      id,
      {
        chat: { draft },
        revision,
      },
    ]) => [id, draft, revision],
  );
}

it("a change of what was read replaces it; another one is a chat of its own, and stays that one", () => {
  expect(applied(record("one", "r1"), change("two", ["r1"], "r2"))).toEqual([["a", "two", "r2"]]);
  const mine = record("mine", "r2", "r1");
  expect(applied(mine, change("yours", ["r1"], "r3"), change("yours, on", ["r1", "r3"], "r4"))).toEqual([
    ["a", "mine", "r2"],
    ["copy", "yours, on", "r4"],
  ]);
});

it("a change that was applied changes nothing when it comes again, even after others", () => {
  const again = change("two", ["r1"], "r2");
  expect(applied(record("one", "r1"), again, again)).toEqual([["a", "two", "r2"]]);
  expect(applied(record("three", "r3", "r1", "r2"), again)).toEqual([["a", "three", "r3"]]);
  expect(applied(record("three", "r3", "r1", "r2"), change(null, ["r1"], "r2"))).toEqual([["a", "three", "r3"]]);
  const copied = change("yours", ["r0"], "r3");
  expect(applied(record("mine", "r1"), copied, copied)).toHaveLength(2);
});

it("a copy that another tab has changed, too, is not replaced", () => {
  const records = new Map([
    ["a", record("mine", "r1")],
    ["copy", { ...record("theirs", "r9"), chat: { ...chat("theirs"), id: "copy" } }],
  ]);
  const outcomes = applyChanges(records, [change("yours", ["r0"], "r3")]);
  expect([...records.values()].map((each) => each.chat.draft)).toEqual(["mine", "theirs", "yours"]);
  expect(outcomes.get("a")?.chat).toMatchObject({ id: "r3", title: "New chat (changed in another tab)" });
});

it("what nobody could read is neither replaced nor deleted", () => {
  expect(readRecord({ chat: 7 })).toBe(DAMAGED);
  const records = new Map([["a", DAMAGED]]);
  applyChanges(records, [change("two", ["damaged?"], "r2"), change(null, [], "r3")]);
  expect([...records.keys()]).toEqual(["a", "copy"]);
  expect(records.get("a")).toBe(DAMAGED);
});

it("the title of a chat of its own shows in lists that it is one: it is one short line", () => {
  const question = `Why?\n${"And why? ".repeat(50)}`;
  const asked: SavedChat = { ...chat(""), turns: [{ id: 0, question, answer: "So.", end: "stop" }] };
  const records = new Map([["a", record("mine", "r1")]]);
  const outcome = applyChanges(records, [{ ...change("", ["r0"], "r2"), chat: asked }]).get("a");
  expect(outcome?.chat.title).toMatch(/^Why\? And why\? .{1,60} \(changed in another tab\)$/);
  expect(outcome?.chat.turns[0]?.question).toBe(question);
});

it("a change that arrived is known for as long as its page's later ones are, however many there were", () => {
  const arrived = change("two", ["r1"], "page.1");
  const records = new Map([["a", record("one", "r1")]]);
  applyChanges(records, [arrived]);
  for (let count = 0; count < 5000; count++)
    applyChanges(records, [change(`on ${count}`, [records.get("a")?.revision ?? ""], `other.${count}`)]);
  expect(applyChanges(records, [arrived]).get("a")?.chat.draft).toBe("on 4999");
  expect([...records.keys()]).toEqual(["a"]);
  expect(records.get("a")?.past).toEqual(["r1", "page.1", "other.4998"]);
  const late = change("late", ["r1"], "page.2");
  expect(applyChanges(records, [late]).get("a")?.chat.id).toBe("copy");
});
