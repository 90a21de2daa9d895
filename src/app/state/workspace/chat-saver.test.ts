import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { FakeDatabase } from "../../../../tests/app/fake-database.ts";
import { openTab, storedChats } from "../../../../tests/app/open-tab.ts";
import type { SavedChat } from "./saved-workspace.ts";

let browser: FakeDatabase;
beforeEach(() => {
  vi.useFakeTimers();
  browser = new FakeDatabase();
});
afterEach(() => {
  vi.useRealTimers();
});

const stored = () => storedChats(browser).map(({ chat }) => chat.draft);
const later = (ms = 1000) => vi.advanceTimersByTimeAsync(ms);
const chat = (draft: string): SavedChat => ({ title: null, settings: {}, turns: [], contextStart: 0, draft });

it("writes once for many changes: drafts, titles, settings, panes, text as it comes", async () => {
  const { workspace, settings, engine, panes } = await openTab(browser);
  await later();
  expect(browser.numWrites).toBe(0);
  const [pane] = panes();
  pane!.setDraft("H");
  pane!.setDraft("Hi");
  pane!.rename("Mine");
  settings.setState({ seed: 3 });
  workspace.addPane()?.setDraft("Two");
  await later();
  expect(browser.numWrites).toBe(1);
  const again = await openTab(browser);
  expect(again.workspace.toSaved()).toMatchObject({
    shared: { seed: 3 },
    current: 2,
    panes: [{ number: 1, title: "Mine", draft: "Hi" }, { draft: "Two" }],
  });
  pane!.sendDraft();
  await later(0);
  engine.step();
  await later();
  expect(storedChats(browser)[0]!.chat).toMatchObject({ turns: [{ answer: "a", end: null }], draft: "" });
});

it("writes what is left when the page goes, and nothing where nothing has changed", async () => {
  const { saver, panes } = await openTab(browser);
  saver.flush();
  panes()[0]!.setDraft("Hi");
  saver.flush();
  await later();
  expect(browser.numWrites).toBe(1);
});

it("leaves what is not saved yet to the next page; shown again, it saves it itself and says nothing meanwhile", async () => {
  const { saver, storage, panes, status } = await openTab(browser);
  const leave = vi.spyOn(storage, "leave");
  saver.leave();
  panes()[0]!.setDraft("Hi");
  saver.leave();
  await later();
  expect(leave.mock.calls.map(([save]) => save?.changes.map((change) => change.chat?.draft) ?? null)).toEqual([
    null,
    ["Hi"],
  ]);
  expect(stored()).toEqual([]);
  expect(saver.comeBack()).toBe(true);
  await later();
  expect([stored(), status(), browser.copies.length]).toEqual([["Hi"], "saved", 0]);
});

it("a page that is shown again after the next one took what it had left does not go on with it", async () => {
  const { saver, panes, tab } = await openTab(browser);
  panes()[0]!.setDraft("one");
  saver.leave();
  await later();
  const next = await openTab(browser, tab);
  expect(next.drafts()).toEqual(["one"]);
  next.panes()[0]!.setDraft("two");
  await later();
  expect(saver.comeBack()).toBe(false);
  await later();
  expect(stored()).toEqual(["two"]);
});

it("a save that the closing has ended is no failure, and its chats are saved when the page is shown again", async () => {
  const { saver, storage, panes, status } = await openTab(browser);
  let end = () => {};
  vi.spyOn(storage, "save").mockImplementationOnce(
    () => new Promise((_, reject) => (end = () => reject(new DOMException("It was ended.", "AbortError")))),
  );
  panes()[0]!.setDraft("one");
  await later();
  saver.leave();
  expect(saver.comeBack()).toBe(true);
  end();
  await later(0);
  expect(status()).toBe("saved");
  await later();
  expect(stored()).toEqual(["one"]);
});

it("leaves what was typed while the database did not answer", async () => {
  browser.isReadable = false;
  const { saver, storage, panes } = await openTab(browser);
  await later(60_000);
  vi.spyOn(storage, "load").mockImplementation(() => new Promise(() => undefined));
  await later(60_000);
  const leave = vi.spyOn(storage, "leave");
  panes()[0]!.setDraft("typed since");
  saver.leave();
  expect(leave.mock.calls[0]?.[0]?.changes.map((change) => change.chat?.draft)).toEqual(["typed since"]);
});

it("forgets a pane that was closed", async () => {
  const { workspace } = await openTab(browser);
  const extra = workspace.addPane();
  workspace.closePane(extra!);
  await later();
  extra!.setDraft("late");
  await later();
  expect(browser.numWrites).toBe(1);
});

it("says so where nothing can be kept", async () => {
  browser.isReadable = false;
  expect((await openTab(browser)).status()).toBe("unsaved");
  browser.isReadable = true;
  browser.space = 0;
  const full = await openTab(browser);
  full.panes()[0]!.setDraft("Hi");
  await later();
  expect(full.status()).toBe("unsaved");
});

it("saves again as soon as it can, with all that was said meanwhile", async () => {
  browser.space = 0;
  const { saver, panes, status } = await openTab(browser);
  const statuses: string[] = [];
  saver.store.subscribe((each) => statuses.push(each));
  panes()[0]!.setDraft("one");
  await later(5000);
  panes()[0]!.setDraft("two");
  await later(60_000);
  // It stays said until it is over.
  expect(new Set(statuses)).toEqual(new Set(["unsaved"]));
  browser.space = Infinity;
  await later(31_000);
  expect([status(), stored()]).toEqual(["saved", ["two"]]);
  panes()[0]!.setDraft("three");
  await later();
  expect(stored()).toEqual(["three"]);
});

it("does not overwrite what it could not read, and opens that beside what was said meanwhile", async () => {
  const earlier = await openTab(browser);
  earlier.settings.setState({ seed: 3 });
  earlier.panes()[0]!.setDraft("earlier");
  await later();
  browser.isReadable = false;
  const tab = await openTab(browser);
  tab.panes()[0]!.setDraft("new");
  tab.saver.flush();
  await later(10_000);
  expect(stored()).toEqual(["earlier"]);
  browser.isReadable = true;
  await later(31_000);
  expect([tab.drafts(), tab.status(), stored()]).toEqual([["new", "earlier"], "saved", ["earlier", "new"]]);
  expect(tab.settings.getState()).toEqual({ seed: 3 });
});

it.each([
  ["panes", "nonsense"],
  ["panes", { places: [{ number: "one" }], current: 1, save: "b" }],
  ["chat:", { version: 99 }],
])("a damaged record is set aside: %s %j", async (key, damaged) => {
  const earlier = await openTab(browser);
  earlier.panes()[0]!.setDraft("earlier");
  await later();
  const found = [...browser.chats.keys()].find((each) => each.startsWith(key))!;
  browser.chats.set(found, damaged);
  const tab = await openTab(browser);
  expect([tab.drafts(), tab.status()]).toEqual([[""], "damaged"]);
  tab.panes()[0]!.setDraft("new");
  await later();
  expect([...browser.chats.values()]).toContainEqual(damaged);
  expect((await openTab(browser)).drafts()).toEqual(["new"]);
});

it.each(["{", '{"changes":7}'])(
  "a copy that a closing page left and nobody can read is kept for a file: %s",
  async (copy) => {
    browser.copies.setItem("chorus.left.other", copy);
    const tab = await openTab(browser);
    expect([tab.status(), browser.copies.length]).toEqual(["damaged", 0]);
    expect(await tab.saver.storage.readDamaged()).toEqual([copy === "{" ? copy : JSON.parse(copy)]);
  },
);

it("two damaged copies of one page are both kept", async () => {
  browser.copies.setItem("chorus.left.other", "{");
  browser.chats.set("left:other", "nonsense");
  const tab = await openTab(browser);
  expect(await tab.saver.storage.readDamaged()).toEqual(expect.arrayContaining(["{", "nonsense"]));
});

it("what an older page set aside, since a newer one had left it, comes back with the newer one", async () => {
  const first = await openTab(browser);
  first.panes()[0]!.setDraft("one");
  await later();
  first.panes()[0]!.setDraft("one and a half");
  await first.leave(false);
  // The older page can't read it: it keeps it as damaged, and saves the list and the chat as it knows them.
  const [[key, left] = ["", ""]] = browser.copies.items;
  browser.copies.removeItem(key);
  const aside = `damaged:${key.replace("chorus.", "").replace(".", ":")}:1790000000000:0`;
  browser.chats.set(aside, JSON.parse(left));
  browser.chats.set("damaged:left:other:1790000000000:1", "nonsense");
  const second = await openTab(browser, first.tab);
  expect([second.drafts(), second.status()]).toEqual([["one and a half"], "saved"]);
  expect([stored(), [...browser.chats.keys()].filter((each) => each.startsWith("damaged:"))]).toEqual([
    ["one and a half"],
    ["damaged:left:other:1790000000000:1"],
  ]);
  await second.leave();
  expect((await openTab(browser, second.tab)).drafts()).toEqual(["one and a half"]);
});

it("reloading a page that could read nothing opens the stored panes", async () => {
  const earlier = await openTab(browser);
  earlier.panes()[0]!.setDraft("earlier");
  await later();
  browser.isReadable = false;
  const tab = await openTab(browser);
  tab.saver.leave();
  await tab.leave();
  browser.isReadable = true;
  const again = await openTab(browser, tab.tab);
  expect([again.drafts(), again.status()]).toEqual([["earlier"], "saved"]);
});

it("leaves to the next page what it could not save yet, since the disk was full when it was opened", async () => {
  const first = await openTab(browser);
  first.panes()[0]!.setDraft("one");
  browser.space = 0;
  await first.leave();
  const second = await openTab(browser, first.tab);
  expect([second.drafts(), second.status()]).toEqual([["one"], "unsaved"]);
  second.panes()[0]!.setDraft("two");
  await second.leave();
  browser.space = Infinity;
  expect((await openTab(browser, first.tab)).drafts()).toEqual(["two"]);
  expect(stored()).toEqual(["two"]);
});

it("writes everything again when the database was deleted", async () => {
  const { settings, storage, panes } = await openTab(browser);
  settings.setState({ seed: 3 });
  panes()[0]!.setDraft("said");
  await later();
  browser.chats.clear();
  storage.onDeleted();
  await later();
  expect(stored()).toEqual(["said"]);
  expect((await openTab(browser)).settings.getState()).toEqual({ seed: 3 });
});

it("an empty pane is in the list alone: with its settings, and without a chat", async () => {
  const { panes } = await openTab(browser);
  panes()[0]!.set("seed", 3);
  panes()[0]!.setDraft("Hi");
  await later();
  expect(stored()).toEqual(["Hi"]);
  panes()[0]!.setDraft("");
  await later();
  expect(stored()).toEqual([]);
  expect((await openTab(browser)).panes()[0]!.toSaved()).toMatchObject({ settings: { seed: 3 }, draft: "" });
});

it("stores a closed chat with the list that it left, and takes it back into that", async () => {
  const { workspace, panes } = await openTab(browser);
  workspace.addPane()?.setDraft("two");
  workspace.closePane(panes()[1]!);
  await later();
  expect([stored(), (await openTab(browser)).drafts()]).toEqual([["two"], [""]]);
  workspace.undoList.undo();
  await later();
  expect([stored(), (await openTab(browser)).drafts()]).toEqual([["two"], ["", "two"]]);
  const before = browser.numWrites;
  await later(10_000);
  expect(browser.numWrites).toBe(before);
});

it("undoing leaves no chat behind that was not there before", async () => {
  const { workspace, panes } = await openTab(browser);
  panes()[0]!.rename("Mine");
  panes()[0]!.send("Why?");
  await later();
  workspace.newChat(panes()[0]!);
  await later();
  workspace.undoList.undo();
  workspace.importChats([chat("in a pane")], [chat("listed")]);
  await later();
  expect(stored()).toHaveLength(3);
  workspace.undoList.undo();
  await later();
  expect(storedChats(browser).map((record) => record.chat.title)).toEqual(["Mine"]);
});

it("stores a closed chat once there is space", async () => {
  browser.space = 0;
  const { workspace, panes, status } = await openTab(browser);
  panes()[0]!.setDraft("one");
  workspace.closePane(panes()[0]!);
  await later(5000);
  expect(status()).toBe("unsaved");
  browser.space = Infinity;
  await later(31_000);
  expect(stored()).toEqual(["one"]);
});

it("stores thousands of imported chats by and by, what was closed last first", async () => {
  const { workspace, storage, panes } = await openTab(browser);
  const save = vi.spyOn(storage, "save");
  workspace.addChats(Array.from({ length: 266 }, (_, index) => chat(`${index}`)));
  panes()[0]!.setDraft("Closed by hand");
  workspace.closePane(panes()[0]!);
  await later(500);
  expect(stored()).toContain("Closed by hand");
  await later(5000);
  expect(stored()).toHaveLength(266);
  expect(save.mock.calls.length).toBeGreaterThan(4);
});

it("opens what a closed page has left; what has no room is in the list of chats", async () => {
  const first = await openTab(browser);
  while (first.workspace.addPane()) first.panes().at(-1)!.setDraft("Mine");
  first.panes()[0]!.setDraft("Mine");
  await later();
  const second = await openTab(browser);
  second.panes()[0]!.setDraft("left");
  second.panes()[1]!.setDraft("left, too");
  await second.leave(false);
  first.panes()[0]!.setDraft("Mine still");
  first.panes()[1]!.setDraft("Mine still");
  await later();
  const third = await openTab(browser);
  expect(third.toast()).toBe("2 chats of another tab are in the list of chats");
  expect(stored().filter((draft) => draft.startsWith("left"))).toHaveLength(2);
});

it("what a closing page left is shown where the database answers nobody, and saved once it answers", async () => {
  const first = await openTab(browser);
  first.panes()[0]?.setDraft("Kept");
  await vi.advanceTimersByTimeAsync(1000);
  first.panes()[0]?.setDraft("Half a thought");
  await first.leave(false);
  browser.isReadable = false;
  const second = await openTab(browser, first.tab);
  expect([second.status(), second.drafts()]).toEqual(["unsaved", ["Half a thought"]]);
  browser.isReadable = true;
  await vi.advanceTimersByTimeAsync(31_000);
  expect([second.status(), second.drafts()]).toEqual(["saved", ["Half a thought"]]);
  expect(storedChats(browser).map((record) => record.chat.draft)).toEqual(["Half a thought"]);
});
