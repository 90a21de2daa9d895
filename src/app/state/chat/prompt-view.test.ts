import { expect, it } from "vitest";
import { openPanes, settle } from "../../../../tests/app/open-panes.ts";
import { PromptView } from "./prompt-view.ts";

it("shows what the newest question was sent with, without its answer", async () => {
  const { control, settings, step, openPane } = openPanes({ answer: () => "Yes." });
  const view = new PromptView();
  const pane = openPane(1);
  expect(pane.asking.getState().showsPrompt).toBe(false);
  settings.set("system", "Be brief.");
  await control.start();
  pane.send("Is it?");
  await step(2);
  pane.send("And now?");
  await step(2);
  expect(pane.asking.getState().showsPrompt).toBe(true);
  await view.show(pane);
  expect(view.store.getState()).toMatchObject({
    status: "shown",
    pane: 1,
    prompt: { text: "system: Be brief.\nuser: Is it?\nassistant: Yes.\nuser: And now?\nassistant:" },
  });
  view.close();
  expect(view.store.getState()).toEqual({ status: "closed" });
});

it("says why there is none, and forgets an answer that comes too late", async () => {
  const { control, first, step, openPane } = openPanes();
  const view = new PromptView();
  const pane = openPane(1);
  await control.start();
  pane.send("Is it?");
  await step(2);
  const requested = view.show(pane);
  view.close();
  await requested;
  expect(view.store.getState()).toEqual({ status: "closed" });

  first.chat.render = () => Promise.reject(new Error("No."));
  await view.show(pane);
  await settle();
  expect(view.store.getState()).toMatchObject({ status: "failed", error: { message: "No." } });
});
