import { expect, it, vi } from "vitest";
import { openPanes } from "../../../../tests/app/open-panes.ts";
import type { Settings } from "../settings/settings.ts";
import { createStore } from "../store.ts";
import type { Asking } from "./asking.ts";
import { Pane } from "./pane.ts";

const SERVER = "http://localhost:8000/v1";

it("puts a pane's own settings over those of the address, and these over those of all panes", () => {
  const { context } = openPanes();
  const settings = createStore<Settings>(() => ({ temperature: 1, top_p: 0.5, seed: 3 }));
  const addressSettings = { temperature: 0, seed: 4, continue_text: true };
  const pane = new Pane(1, { ...context, settings, addressSettings });
  pane.set("seed", 5);
  expect(pane.asking.getState().settings).toEqual({ temperature: 0, top_p: 0.5, seed: 5, continue_text: true });
  expect(pane.asking.getState().continuesText).toBe(true);
});

it("continues texts where the page's model can't chat, and shows prompts where it can", async () => {
  const readyWith = async (chat: boolean) => {
    const { control, openPane } = openPanes({ model: { chat } });
    const pane = openPane(1);
    expect(pane.asking.getState()).toMatchObject({ engine: null, continuesText: false, showsPrompt: false });
    await control.start();
    return pane;
  };
  const [chatting, continuing] = [await readyWith(true), await readyWith(false)];
  expect(chatting.asking.getState()).toMatchObject({ continuesText: false, showsPrompt: true });
  expect(continuing.asking.getState()).toMatchObject({ continuesText: true, showsPrompt: false });
  chatting.set("continue_text", true);
  expect(chatting.asking.getState()).toMatchObject({ continuesText: true, showsPrompt: false });
  continuing.answerBy({ baseUrl: SERVER, model: "m" });
  expect(continuing.asking.getState()).toMatchObject({ isRemote: true, continuesText: false, showsPrompt: false });
});

it("names who answers: the page's model before and after it is loaded, or a server's", async () => {
  const { control, openPane } = openPanes();
  const pane = openPane(1);
  const name = () => pane.asking.getState().answerer;
  expect(name()).toBe("fake");
  await control.start();
  expect(name()).toBe("fake-gpt");
  pane.answerBy({ baseUrl: SERVER, model: "m" });
  expect(name()).toBe("m at localhost:8000");
});

it("tells of a change once, and of nothing while an answer grows", async () => {
  const { control, step, openPane } = openPanes();
  await control.start();
  const pane = openPane(1);
  const tell = vi.fn<(asking: Asking) => void>();
  const stop = pane.asking.subscribe(tell);
  pane.send("Hello");
  await step(3);
  expect(tell).not.toHaveBeenCalled();
  pane.set("temperature", 0);
  expect(tell).toHaveBeenCalledTimes(1);
  expect(tell.mock.lastCall?.[0]).toMatchObject({ settings: { temperature: 0 } });
  stop();
  pane.set("temperature", 1);
  expect(tell).toHaveBeenCalledTimes(1);
});
