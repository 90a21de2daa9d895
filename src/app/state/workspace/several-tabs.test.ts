// Several tabs of one browser save the same chats: nothing is merged, nothing is lost.

import fc from "fast-check";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { FakeDatabase, FakeStorage } from "../../../../tests/app/fake-database.ts";
import { openTab, storedChats } from "../../../../tests/app/open-tab.ts";

type Tab = Awaited<ReturnType<typeof openTab>>;

let browser: FakeDatabase;
beforeEach(() => {
  vi.useFakeTimers();
  browser = new FakeDatabase();
});
afterEach(() => {
  vi.useRealTimers();
});

/** What has changed is written half a second later. */
const written = () => vi.advanceTimersByTimeAsync(1000);
const storedDrafts = () => storedChats(browser).map(({ chat }) => chat.draft);
async function openWith(draft: string): Promise<Tab> {
  const tab = await openTab(browser);
  tab.panes()[0]!.setDraft(draft);
  await written();
  return tab;
}
const write = (tab: Tab, draft: string, at = 0) => tab.panes()[at]!.setDraft(draft);

it("both save: different chats go on side by side", async () => {
  const first = await openWith("one");
  const second = await openTab(browser);
  expect(second.drafts()).toEqual(["one"]);
  second.workspace.addPane()!.setDraft("two");
  await written();
  write(first, "one and more");
  await written();
  expect(storedDrafts().toSorted()).toEqual(["one and more", "two"]);
  expect([first.toast(), second.toast()]).toEqual([null, null]);
});

it("a chat that another tab has changed is saved as a chat of its own, which says so; the tab goes on with it", async () => {
  const first = await openWith("one");
  const second = await openTab(browser);
  write(first, "mine");
  await written();
  write(second, "yours");
  await written();
  expect(storedChats(browser).map(({ chat }) => [chat.draft, chat.title])).toEqual([
    ["mine", null],
    ["yours", "New chat (changed in another tab)"],
  ]);
  expect(second.panes()[0]!.store.getState()).toMatchObject({
    title: "New chat (changed in another tab)",
    note: { title: "Another tab changed this chat, too" },
  });
  expect(first.panes()[0]!.store.getState().note).toBeNull();
  write(first, "mine, on");
  write(second, "yours, on");
  await written();
  expect(storedDrafts()).toEqual(["mine, on", "yours, on"]);
});

it("of three tabs that change one chat each has its own", async () => {
  const tabs = [await openWith("one"), await openTab(browser), await openTab(browser)];
  for (const [index, tab] of tabs.entries()) write(tab, `of tab ${index}`);
  await written();
  for (const [index, tab] of tabs.entries()) write(tab, `of tab ${index}, on`);
  await written();
  expect(storedDrafts().toSorted()).toEqual(["of tab 0, on", "of tab 1, on", "of tab 2, on"]);
});

it("an answer that streams goes on in the chat of its own", async () => {
  const first = await openWith("one");
  const second = await openTab(browser);
  await vi.advanceTimersByTimeAsync(0);
  write(first, "mine");
  await vi.advanceTimersByTimeAsync(100);
  second.panes()[0]!.sendDraft();
  await vi.advanceTimersByTimeAsync(0);
  second.engine.step();
  await written();
  second.engine.step();
  await written();
  for (let step = 0; step < 4; step++) second.engine.step();
  await written();
  expect(second.panes()[0]!.store.getState()).toMatchObject({ phase: "idle", turns: [{ answer: "a b c d" }] });
  const chats = storedChats(browser).map(({ chat }) => [
    chat.title,
    chat.draft,
    chat.turns.map(({ answer }) => answer),
  ]);
  expect(chats).toEqual([
    [null, "mine", []],
    ["one (changed in another tab)", "", ["a b c d"]],
  ]);
});

it("a tab that changes nothing writes nothing, even if what it shows was interrupted or is old", async () => {
  const first = await openTab(browser);
  await vi.advanceTimersByTimeAsync(0);
  first.panes()[0]!.send("Why?");
  await vi.advanceTimersByTimeAsync(0);
  first.engine.step();
  await written();
  const second = await openTab(browser);
  expect(second.panes()[0]!.store.getState().turns).toMatchObject([{ answer: "a", end: "interrupted" }]);
  second.workspace.addPane();
  second.panes()[0]!.notify({ kind: "info", title: "Hm", body: "" });
  await written();
  for (let step = 0; step < 4; step++) first.engine.step();
  await written();
  expect(storedChats(browser).map(({ chat }) => chat.turns)).toMatchObject([[{ answer: "a b c d", end: "stop" }]]);
  expect(first.panes()[0]!.store.getState().note).toBeNull();
});

it("the same change in two tabs is one chat", async () => {
  const tabs = [await openWith("one"), await openTab(browser)];
  for (const tab of tabs) write(tab, "two");
  await written();
  expect(storedDrafts()).toEqual(["two"]);
});

/** Returns a tab that has closed a chat which another tab had changed, so that its own is a chat beside that. */
async function closeChanged() {
  const first = await openWith("one");
  const second = await openTab(browser);
  write(first, "mine");
  await written();
  write(second, "yours");
  second.workspace.closePane(second.panes()[0]!);
  await written();
  return second;
}

it("a closed chat that another tab has changed is saved beside it, and that is said", async () => {
  const second = await closeChanged();
  expect(storedDrafts()).toEqual(["mine", "yours"]);
  expect(second.toast()).toContain("“New chat (changed in another tab)” is a chat of its own");
  second.workspace.undoList.undo();
  await written();
  write(second, "yours again");
  await written();
  expect(storedDrafts()).toEqual(["mine", "yours again"]);
});

it("a closed chat that has become one of its own comes back as that one, unless it was opened since", async () => {
  const second = await closeChanged();
  const copy = storedChats(browser).find(({ chat }) => chat.draft === "yours")!;
  second.workspace.reopen(copy.chat.id, copy);
  second.workspace.undoList.undo();
  await written();
  const ids = second.panes().map((pane) => pane.store.getState().id);
  expect(ids).toEqual([copy.chat.id]);
  expect(second.toast()).toContain("can’t be undone any more");
  second.workspace.closePane(second.panes()[0]!);
  second.workspace.undoList.undo();
  expect(second.panes().map((pane) => pane.store.getState().id)).toEqual(ids);
});

it("no two panes have one chat, even if the chat of its own was opened before its save was confirmed", async () => {
  const tab = await openWith("one");
  const [pane] = tab.panes();
  const chat = { ...pane!.toSaved(), id: pane!.store.getState().id };
  const copy = { ...chat, id: "copy", title: "Copy" };
  tab.workspace.addChats([{ ...copy, draft: "two" }]);
  tab.workspace.goOnAs({ id: chat.id, chat, copy });
  await written();
  expect(tab.titles()).toEqual(["Copy", "Copy"]);
  expect(storedDrafts().toSorted()).toEqual(["one", "one", "two"]);
});

it("a regenerated answer is undone in the chat of its own, too", async () => {
  const first = await openTab(browser);
  await vi.advanceTimersByTimeAsync(0);
  first.panes()[0]!.send("Why?");
  await vi.advanceTimersByTimeAsync(0);
  for (let step = 0; step < 5; step++) first.engine.step();
  await written();
  const second = await openTab(browser);
  await vi.advanceTimersByTimeAsync(0);
  write(first, "mine");
  await written();
  const [pane] = second.panes();
  const turnId = pane!.store.getState().turns[0]!.id;
  pane!.regenerate();
  await written();
  expect(pane!.store.getState().turns[0]!.id).not.toBe(turnId);
  second.workspace.undoList.undo();
  expect(pane!.store.getState().turns[0]!.id).toBe(turnId);
});

it("a change that is taken back before its save is confirmed is taken back in what is stored, too", async () => {
  const tab = await openWith("one");
  for (const other of ["on", ""]) {
    write(tab, other);
    tab.saver.flush();
    write(tab, "one");
    tab.saver.flush();
    // oxlint-disable-next-line no-await-in-loop -- one after another
    await written();
    expect(storedDrafts()).toEqual(["one"]);
  }
});

it("what another tab has changed since is not deleted", async () => {
  const first = await openWith("one");
  const second = await openTab(browser);
  first.workspace.closePane(first.panes()[0]!);
  const records = await first.storage.readAll();
  write(second, "two");
  await written();
  first.workspace.deleteForGood(records);
  await written();
  expect(storedDrafts()).toEqual(["two"]);
});

it("the list of panes belongs to the tab: a reload opens its own, a new visit the one saved last", async () => {
  const first = await openWith("one");
  const second = await openTab(browser);
  second.workspace.addPane()!.setDraft("two");
  await written();
  await second.leave();
  expect((await openTab(browser, first.tab)).drafts()).toEqual(["one"]);
  expect((await openTab(browser)).drafts()).toEqual(["one", "two"]);
});

it("the settings for all panes are those that were changed last", async () => {
  const first = await openWith("one");
  const second = await openTab(browser);
  first.settings.setState({ seed: 3 });
  await written();
  write(second, "two");
  await written();
  expect((await openTab(browser)).settings.getState()).toEqual({ seed: 3 });
});

it("what a closing page could not write is found by the next one, once, whoever else has saved", async () => {
  const first = await openWith("one");
  const second = await openTab(browser);
  write(first, "mine");
  await first.leave(false);
  write(second, "yours");
  await written();
  const again = await openTab(browser, first.tab);
  expect(again.drafts()).toEqual(["yours", "mine"]);
  expect(again.titles()[1]).toBe("New chat (changed in another tab)");
  expect(browser.copies.length).toBe(0);
  await again.leave();
  expect((await openTab(browser, first.tab)).drafts()).toEqual(["yours", "mine"]);
  expect(storedDrafts()).toEqual(["yours", "mine"]);
});

it("a copy that two new tabs find at once, or that arrived after all, adds nothing", async () => {
  const first = await openWith("one");
  write(first, "two");
  first.saver.leave();
  const copy = [...browser.copies.items];
  await written();
  const [second] = await Promise.all([openTab(browser), openTab(browser)]);
  expect(second.drafts()).toEqual(["two"]);
  write(second, "three");
  await written();
  // Some browsers show it as late as this.
  for (const [key, value] of copy) browser.copies.setItem(key, value);
  expect((await openTab(browser)).drafts()).toEqual(["three"]);
  expect(storedDrafts()).toEqual(["three"]);
});

it("a copy for which localStorage has no room is left in the database", async () => {
  const first = await openWith("one");
  browser.copies.setItem = () => {
    throw new DOMException("Full.", "QuotaExceededError");
  };
  write(first, "two");
  await first.leave(false);
  expect((await openTab(browser, first.tab)).drafts()).toEqual(["two"]);
  expect([...browser.chats.keys()].filter((key) => key.startsWith("left:"))).toEqual([]);
});

it("loses no turn that a tab has shown as saved, whatever tabs do in whatever order", async () => {
  const action = fc.record({
    tab: fc.nat(2),
    what: fc.constantFrom(
      "say",
      "say",
      "say",
      "close",
      "undo",
      "add",
      "clear",
      "save",
      "wait",
      "reload",
      "crash",
      "reopen",
      "full",
    ),
    at: fc.nat(3),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 5, maxLength: 40 }), async (actions) => {
      browser = new FakeDatabase();
      let numSaid = 0;
      const tabs = [await openTab(browser), await openTab(browser), await openTab(browser)];
      const unsaved = tabs.map(() => new Set<string>());
      const saved = new Set<string>();
      const noteSaved = () => {
        for (const [index, tab] of tabs.entries()) {
          if (tab.status() !== "saved") continue;
          for (const text of unsaved[index]!) saved.add(text);
          unsaved[index]!.clear();
        }
      };
      for (const { tab: index, what, at } of actions) {
        const tab = tabs[index]!;
        const pane = tab.panes()[at % tab.panes().length]!;
        if (what === "say") {
          const text = `Turn ${numSaid++}.`;
          pane.stop();
          if (!pane.send(text)) throw new Error("It can be asked.");
          unsaved[index]!.add(text);
        } else if (what === "close") tab.workspace.closePane(pane);
        else if (what === "undo") tab.workspace.undoList.undo();
        else if (what === "add") tab.workspace.addPane();
        else if (what === "clear") tab.workspace.newChat(pane);
        else if (what === "save") tab.saver.flush();
        else if (what === "full") browser.space = browser.space === Infinity ? 0 : Infinity;
        else if (what === "reopen") {
          const records = await tab.storage.readAll();
          const record = records[at % Math.max(1, records.length)];
          if (record) tab.workspace.reopen(record.chat.id, record);
        } else if (what === "wait") {
          await vi.advanceTimersByTimeAsync(31_000);
          if (browser.space === Infinity) noteSaved();
        } else {
          if (what === "crash") tab.kill();
          else await tab.leave(at % 2 === 0);
          // A crash loses what was not saved yet; a page that leaves has its copy.
          if (what === "crash") unsaved[index]!.clear();
          tab.kill();
          tabs[index] = await openTab(browser, at === 0 ? new FakeStorage() : tab.tab);
        }
      }
      browser.space = Infinity;
      await vi.advanceTimersByTimeAsync(70_000);
      noteSaved();
      const last = await openTab(browser);
      const all = JSON.stringify([await last.storage.readAll()]);
      for (const text of saved) expect(all).toContain(text);
    }),
    { numRuns: 25 },
  );
});
