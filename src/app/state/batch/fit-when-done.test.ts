import { expect, it } from "vitest";

import { openPanes } from "../../../../tests/app/open-panes.ts";
import { Dock } from "./dock.ts";
import { fitWhenDone } from "./fit-when-done.ts";

async function requested() {
  const { control, openPane, step } = openPanes();
  await control.start();
  const panes = [openPane(1), openPane(2)];
  const timeline = { lastStep: 7 };
  const dock = new Dock();
  for (const pane of panes) pane.send("Hi");
  fitWhenDone(panes, timeline, dock);
  const answer = async () => {
    timeline.lastStep = 47;
    await step(40);
  };
  return { panes, dock, answer };
}

it("shows the whole run once all answers are there", async () => {
  const { panes, dock, answer } = await requested();
  expect(dock.store.getState().fitSteps).toBeNull();
  await answer();
  expect(panes.map(({ store }) => store.getState().phase)).toEqual(["idle", "idle"]);
  expect(dock.store.getState().fitSteps).toBe(40);
});

it("leaves the zoom that somebody chose meanwhile", async () => {
  const { dock, answer } = await requested();
  dock.zoom(1);
  await answer();
  expect(dock.store.getState().fitSteps).toBeNull();
});
