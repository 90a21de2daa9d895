// What earlier versions wrote, with other names of fields, is read wherever chats are kept.

import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { FakeDatabase, FakeStorage } from "../../../../tests/app/fake-database.ts";
import { openTab } from "../../../../tests/app/open-tab.ts";
import { importChats } from "./export-chats.ts";
import type { SavedChat } from "./saved-workspace.ts";

let browser: FakeDatabase;
beforeEach(() => {
  vi.useFakeTimers();
  browser = new FakeDatabase();
});
afterEach(() => {
  vi.useRealTimers();
});

const alternatives = {
  answers: [
    { answer: "Yeast.", end: "stop" },
    { answer: "Heat.", end: "stop" },
  ],
  chosen: 0,
} as const;
const turns = [0, 1].map((id) => ({ id, question: `Why ${id}?`, answer: "Yeast.", end: "stop" as const }));
const others = [{ id: 2, question: "How?", answer: "Slowly.", end: "stop" as const, after: 0 }];
const chat: SavedChat = { title: "Bread", settings: {}, turns, contextStart: 0, draft: "" };

/** Each former name alone, so that each is missed by itself. */
const FORMER: readonly (readonly [name: string, former: object, now: Partial<SavedChat>])[] = [
  [
    "several",
    { ...chat, turns: turns.map((turn) => ({ ...turn, several: alternatives })) },
    { turns: turns.map((turn) => ({ ...turn, alternatives })) },
  ],
  ["unchosen", { ...chat, unchosen: others }, { inactiveTurns: others }],
  ["firstSent", { ...chat, contextStart: undefined, firstSent: 1 }, { contextStart: 1 }],
];

const list = (place: object) => ({ places: [{ number: 1, id: "a", ...place }], current: 1, save: "b" });
const change = { id: "a", from: [], revision: "page.0", copyId: "c", savedMs: 1 };

/** Puts a chat where it is kept. Returns the pane that shows it. */
const PLACES: Readonly<Record<string, (former: object) => Promise<SavedChat | undefined>>> = {
  "a record of the database": async (former) => {
    browser.chats.set("panes", list({}));
    browser.chats.set("chat:a", { chat: { ...former, id: "a" }, revision: "page.0", past: [], savedMs: 1 });
    return (await openTab(browser)).panes()[0]?.toSaved();
  },
  "the blank chat of a place": async (former) => {
    browser.chats.set("panes", list({ blank: former }));
    return (await openTab(browser)).panes()[0]?.toSaved();
  },
  "a tab's own list": async (former) => {
    const tab = new FakeStorage();
    tab.setItem("chorus.panes", JSON.stringify({ ...list({ blank: former }), save: undefined }));
    return (await openTab(browser, tab)).panes()[0]?.toSaved();
  },
  "what a closing page left": async (former) => {
    const left = { ...list({}), changes: [{ ...change, chat: former }], shared: null, saves: ["b"], save: undefined };
    browser.copies.setItem("chorus.left.page", JSON.stringify(left));
    return (await openTab(browser)).panes()[0]?.toSaved();
  },
  "the closed chats of an export": async (former) => {
    const { workspace } = await openTab(browser);
    const file = {
      app: "chorus",
      version: 1,
      current: 1,
      shared: {},
      panes: [{ ...chat, number: 1 }],
      closed: [former],
    };
    expect(await importChats(workspace, JSON.stringify(file))).toEqual({ numOpened: 1, numListed: 1 });
    return [...workspace.chats.unsaved.getState().values()][0] ?? undefined;
  },
};

it.each(Object.keys(PLACES).flatMap((place) => FORMER.map((each) => [place, ...each] as const)))(
  "%s: %s",
  async (place, _, former, now) => {
    expect(await PLACES[place]?.(former)).toMatchObject(now);
  },
);
