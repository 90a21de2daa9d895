import type { ChatRecord } from "../../src/app/state/workspace/chat-record.ts";
import { ChatStorage } from "../../src/app/state/workspace/chat-storage.ts";
import { Chats } from "../../src/app/state/workspace/chats.ts";
import type { Settings } from "../../src/app/state/settings/settings.ts";
import { createStore } from "../../src/app/state/store.ts";
import { ChatSaver } from "../../src/app/state/workspace/chat-saver.ts";
import { Workspace } from "../../src/app/state/workspace/workspace.ts";
import { FakeStorage, type FakeDatabase } from "./fake-database.ts";
import { openPanes } from "./open-panes.ts";

/** Opens the chats in a tab of the database's browser. @param tab the tab's storage, for a reload. [a new tab's] */
export async function openTab(browser: FakeDatabase, tab = new FakeStorage()) {
  const { control, context, first: engine } = openPanes({ answer: () => "a b c d" });
  const { database, tab: life } = browser.connect();
  const storage = new ChatStorage({ database, storages: { copies: browser.copies, tab } });
  const loaded = await storage.load();
  const settings = createStore<Settings>(() => loaded.saved?.shared ?? {});
  const workspace = new Workspace({ ...context, settings }, loaded.saved, new Chats(storage));
  const saver = new ChatSaver(storage, loaded, workspace, settings);
  await control.start();
  const panes = () => workspace.store.getState().panes;
  const drafts = () => panes().map((pane) => pane.store.getState().draft);
  const titles = () => panes().map((pane) => pane.store.getState().title);
  const status = () => saver.store.getState();
  const toast = () => workspace.undoList.store.getState().toast?.title ?? null;
  /** Closes the page as the browser does. @param isWritten whether its last save arrives */
  const leave = async (isWritten = true) => {
    life.isClosing = !isWritten;
    saver.leave();
    await settleMicrotasks();
    life.isDead = true;
  };
  const kill = () => void (life.isDead = true);
  return {
    workspace,
    settings,
    saver,
    engine,
    storage,
    loaded,
    tab,
    panes,
    drafts,
    titles,
    status,
    toast,
    leave,
    kill,
  };
}

async function settleMicrotasks(): Promise<void> {
  for (let count = 0; count < 200; count++) await Promise.resolve();
}

/** Returns the stored chats. */
export function storedChats(browser: FakeDatabase): readonly ChatRecord[] {
  return [...browser.chats].filter(([key]) => key.startsWith("chat:")).map(([, record]) => record as ChatRecord);
}
