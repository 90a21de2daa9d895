import { expect, it } from "vitest";
import { openPanes } from "../../../../tests/app/open-panes.ts";
import { promptOf } from "./prompt.ts";

it("is what the newest question was sent with, without its answer", async () => {
  const { control, settings, step, openPane } = openPanes({ answer: () => "Yes." });
  const pane = openPane(1);
  expect(await promptOf(pane)).toBeNull();
  settings.setState({ system: "Be brief." });
  await control.start();
  pane.send("Is it?");
  await step(2);
  pane.send("And now?");
  await step(2);
  expect(await promptOf(pane)).toMatchObject({
    text: "system: Be brief.\nuser: Is it?\nassistant: Yes.\nuser: And now?\nassistant:",
  });
});
