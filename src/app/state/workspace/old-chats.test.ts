// What the version before has stored is converted once, and stays as it is; what its tabs say later is found by the next start.

import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { FakeDatabase, type FakeStorage } from "../../../../tests/app/fake-database.ts";
import { openTab, storedChats } from "../../../../tests/app/open-tab.ts";
import type { SavedChat } from "./saved-workspace.ts";

let browser: FakeDatabase;
beforeEach(() => {
  vi.useFakeTimers({ now: new Date("2026-11-26T12:00").getTime() });
  browser = new FakeDatabase();
});
afterEach(() => {
  vi.useRealTimers();
});

const chat = (id: string, question: string): SavedChat & { id: string } => ({
  id,
  title: null,
  settings: {},
  turns: [{ id: 0, question, answer: "So.", end: "stop" }],
  firstSent: 0,
  draft: "",
});
const workspace = (save: string, ...chats: readonly SavedChat[]) => ({
  app: "chorus",
  version: 1,
  current: 1,
  shared: { seed: 3 },
  panes: chats.map((each, index) => ({ number: index + 1, ...each })),
  save,
});
function close(key: string, closed: SavedChat, dateMs = 5): void {
  browser.store("closed").set(key, { chat: closed, words: ["so"] });
  browser.store("summaries").set(key, { key, title: "", preview: "", dateMs, numTurns: 1 });
}
function leaveOldCopy(
  page: string,
  saves: readonly string[],
  closed: readonly unknown[],
  ...chats: readonly SavedChat[]
): void {
  const copy = { saves, workspace: workspace("", ...chats), closed, gone: [] };
  browser.copies.setItem(`chorus.unsaved.${page}`, JSON.stringify(copy));
}
const questionsOf = (chats: readonly SavedChat[]) => chats.map(({ turns }) => turns[0]?.question).toSorted();
const stored = () => questionsOf(storedChats(browser).map((record) => record.chat));
const open = async (tab?: FakeStorage) => {
  const opened = await openTab(browser, tab);
  await vi.advanceTimersByTimeAsync(1000);
  const shown = opened.workspace.toSaved().panes.map(({ turns, draft }) => turns[0]?.question ?? draft);
  return { ...opened, shown };
};
const oldRecords = () => JSON.stringify([...browser.chats].filter(([key]) => key.startsWith("workspace")));

it("all old shapes become chats: panes, those of other tabs, closed chats; the old ones stay as they are", async () => {
  browser.chats.set("workspace", workspace("s1", chat("a", "A?"), chat("b", "B?"), { ...chat("c", ""), turns: [] }));
  browser.chats.set("workspace-of-page", workspace("s2", chat("a", "A?"), chat("b", "B, elsewhere?")));
  browser.chats.set("workspace-damaged", "nonsense");
  close("d-1", chat("d", "D?"), 7);
  close("d-2", chat("d", "D, otherwise?"));
  const before = oldRecords();
  const tab = await open();
  expect(tab.shown).toEqual(["A?", "B?", "B, elsewhere?"]);
  expect(tab.settings.store.getState()).toEqual({ seed: 3 });
  expect(stored()).toEqual(["A?", "B, elsewhere?", "B?", "D, otherwise?", "D?"]);
  expect(storedChats(browser).find((record) => record.chat.id === "d")?.savedMs).toBe(7);
  expect(oldRecords()).toBe(before);
  // It is converted once.
  tab.workspace.closePane(tab.panes()[0]!);
  tab.workspace.deleteForGood(await tab.storage.readAll());
  await vi.advanceTimersByTimeAsync(1000);
  const again = await open();
  expect(again.status()).toBe("kept");
  expect(stored()).toEqual([]);
});

it("very old records have no ids and no names of saves", async () => {
  const { id: _, ...nameless } = chat("", "A?");
  const { save: __, ...record } = workspace("", nameless, { ...nameless, draft: "And" });
  browser.chats.set("workspace", record);
  expect((await open()).shown).toEqual(["A?", "A?"]);
  await open();
  expect(stored()).toEqual(["A?", "A?"]);
});

it("a conversion that breaks off leaves all as it was, shows the chats, and is done by the next start", async () => {
  browser.chats.set("workspace", workspace("s1", chat("a", "A?")));
  close("d-1", chat("d", "D?"));
  browser.space = 0;
  const before = JSON.stringify([...browser.chats]);
  const tab = await open();
  expect([tab.shown, tab.status()]).toEqual([["A?"], "not-kept"]);
  tab.panes()[0]!.setDraft("More");
  await vi.advanceTimersByTimeAsync(60_000);
  expect(JSON.stringify([...browser.chats])).toBe(before);
  // A crash.
  tab.kill();
  browser.space = Infinity;
  expect((await open()).shown).toEqual(["A?"]);
  expect(stored()).toEqual(["A?", "D?"]);
});

it("a full disk hides no closed chat: those to be converted are listed, and open", async () => {
  browser.chats.set("workspace", workspace("s1", chat("a", "A?")));
  close("d-1", chat("d", "D?"));
  browser.space = 0;
  const tab = await open();
  expect(questionsOf((await tab.storage.readAll()).map((record) => record.chat))).toEqual(["A?", "D?"]);
  expect((await tab.storage.read("d"))?.chat.turns[0]?.question).toBe("D?");
  browser.space = Infinity;
  await vi.advanceTimersByTimeAsync(31_000);
  expect([tab.status(), stored()]).toEqual(["kept", ["A?", "D?"]]);
  expect(await tab.storage.readAll()).toHaveLength(2);
});

it("thousands of closed chats on a slow computer take as long as they take, once", async () => {
  browser.chats.set("workspace", workspace("s1", chat("a", "A?")));
  close("d-1", chat("d", "D?"));
  browser.closedMs = 20_000;
  const opening = open();
  await vi.advanceTimersByTimeAsync(21_000);
  expect(stored()).toEqual(["A?", "D?"]);
  await vi.advanceTimersByTimeAsync(1000);
  const tab = await opening;
  expect([tab.shown, tab.status()]).toEqual([["A?"], "kept"]);
});

it("a full disk: all is converted and saved as soon as there is space, nothing twice", async () => {
  browser.chats.set("workspace", workspace("s1", chat("a", "A?")));
  browser.space = 0;
  const tab = await open();
  tab.panes()[0]!.setDraft("More");
  await vi.advanceTimersByTimeAsync(5000);
  browser.space = Infinity;
  await vi.advanceTimersByTimeAsync(31_000);
  expect(tab.status()).toBe("kept");
  expect(storedChats(browser).map((record) => [record.chat.id, record.chat.draft])).toEqual([["a", "More"]]);
  expect(tab.panes()).toHaveLength(1);
});

it("two tabs that convert at once do it once", async () => {
  browser.chats.set("workspace", workspace("s1", chat("a", "A?"), chat("b", "B?")));
  browser.chats.set("workspace-of-page", workspace("s2", chat("a", "A, elsewhere?")));
  leaveOldCopy("gone", ["s0"], [], chat("b", "B, unsaved?"));
  await Promise.all([open(), open()]);
  expect(stored()).toEqual(["A, elsewhere?", "A?", "B, unsaved?", "B?"]);
});

it("a record that can't be read is kept as it is, said once, and can be saved as a file", async () => {
  const damaged = { app: "chorus", version: 1, panes: [{ number: "one" }] };
  browser.chats.set("workspace", damaged);
  const tab = await open();
  expect([tab.status(), tab.shown]).toEqual(["damaged", [""]]);
  tab.panes()[0]!.setDraft("New");
  await vi.advanceTimersByTimeAsync(1000);
  expect(browser.chats.get("workspace")).toEqual(damaged);
  expect(await tab.storage.readDamaged()).toEqual([damaged]);
  expect((await open()).status()).toBe("kept");
});

it("a chat that can't be read is kept as it is, and the others are opened", async () => {
  browser.chats.set("workspace", workspace("s1", chat("a", "A?"), chat("b", "B?")));
  const tab = await open();
  browser.chats.set("chat:a", { chat: "nonsense" });
  const again = await open(tab.tab);
  expect([again.status(), again.shown]).toEqual(["damaged", ["B?"]]);
  expect(await again.storage.readDamaged()).toEqual([{ chat: "nonsense" }]);
  expect(browser.chats.get("chat:a")).toEqual({ chat: "nonsense" });
  await expect(again.storage.read("a")).rejects.toMatchObject({ message: "Its record is damaged." });
});

it("damaged closed chats, lists, settings and copies can be saved as a file, even after they were saved anew", async () => {
  browser.store("closed").set("d-1", "a chat");
  const damaged = { panes: "a list", settings: "settings", "left:page": "a copy" };
  for (const [key, value] of Object.entries(damaged)) browser.chats.set(key, value);
  const tab = await open();
  expect(tab.status()).toBe("damaged");
  tab.settings.set("seed", 4);
  tab.panes()[0]!.setDraft("New");
  await vi.advanceTimersByTimeAsync(1000);
  expect((await tab.storage.readDamaged()).toSorted()).toEqual(["a chat", "a copy", "a list", "settings"]);
  const again = await open();
  expect([again.status(), again.settings.store.getState()]).toEqual(["kept", { seed: 4 }]);
});

it("what a tab of the old version says after the conversion is found by the next start", async () => {
  browser.chats.set("workspace", workspace("s1", chat("a", "A?"), chat("b", "B?"), chat("c", "C?")));
  const first = await open();
  first.panes()[1]!.setDraft("Changed here");
  await vi.advanceTimersByTimeAsync(1000);
  // It has changed a and b, closed c and begun e; and another tab of it has changed a.
  browser.chats.set("workspace", workspace("s2", chat("a", "A, later?"), chat("b", "B, later?"), chat("e", "E?")));
  browser.chats.set("workspace-of-page", workspace("s3", chat("a", "A, elsewhere?")));
  close("c-2", chat("c", "C, later?"));
  const second = await open(first.tab);
  expect(second.shown).toEqual(["A, later?", "B?", "C?", "A, elsewhere?", "B, later?", "E?"]);
  expect(stored()).toEqual(["A, elsewhere?", "A, later?", "B, later?", "B?", "C, later?", "C?", "E?"]);
  expect(second.titles()[4]).toBe("B, later? (changed in another tab)");
  await open();
  expect(stored()).toHaveLength(7);
});

it("a tab of the old version that goes on with a chat that was changed here has one copy, whatever it says", async () => {
  browser.chats.set("workspace", workspace("s1", chat("a", "A?")));
  browser.chats.set("workspace-of-page", workspace("s2", chat("b", "B?")));
  const first = await open();
  for (const [index, pane] of first.panes().entries()) pane.setDraft(`Changed here ${index}`);
  await vi.advanceTimersByTimeAsync(1000);
  for (const time of ["first", "second", "third"]) {
    browser.chats.set("workspace", workspace(`main, ${time}`, chat("a", `A, ${time}?`)));
    browser.chats.set("workspace-of-page", workspace(`page, ${time}`, chat("b", `B, ${time}?`)));
    // oxlint-disable-next-line no-await-in-loop -- one after another
    await open();
  }
  expect(stored()).toEqual(["A, third?", "A?", "B, third?", "B?"]);
});

it("the copy of a closed old page replaces what it goes on from, and its panes are the list", async () => {
  browser.chats.set("workspace", workspace("s1", chat("a", "A?"), chat("b", "B?")));
  const closed = { key: "b-2", chat: chat("b", "B, later?"), closedMs: 9 };
  leaveOldCopy("page", ["s1", "lost"], [closed], chat("a", "A, later?"));
  expect((await open()).shown).toEqual(["A, later?"]);
  expect(stored()).toEqual(["A, later?", "B, later?"]);
  expect(browser.copies.length).toBe(0);
  await open();
  expect(stored()).toEqual(["A, later?", "B, later?"]);
});

it("an older copy is beside what was saved since, and one that arrived adds nothing", async () => {
  browser.chats.set("workspace", workspace("s2", chat("a", "A?")));
  leaveOldCopy("arrived", ["s1", "s2"], [], chat("a", "A, before?"));
  leaveOldCopy("other", ["s1", "lost"], [], chat("a", "A, elsewhere?"));
  expect((await open()).shown).toEqual(["A?", "A, elsewhere?"]);
  expect(stored()).toEqual(["A, elsewhere?", "A?"]);
});

it("a copy that an old page leaves after the conversion is found", async () => {
  browser.chats.set("workspace", workspace("s1", chat("a", "A?")));
  const first = await open();
  leaveOldCopy("page", ["s1", "lost"], [], chat("a", "A, later?"), chat("b", "B?"));
  await open(first.tab);
  expect(stored()).toEqual(["A, later?", "B?"]);
});
