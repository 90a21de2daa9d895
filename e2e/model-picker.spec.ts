// The model picker: first on an engine without a model, where downloads are quick and known beforehand; then a real
// model from a hub of the test's own.

import { readFileSync } from "node:fs";
import { expect, test, type Locator, type Page } from "playwright/test";
import { ModelServer } from "../tests/fakes/model-server.ts";
import { App } from "./support/app.ts";
import { chooseFiles } from "./support/choose-files.ts";
import { axeFindingsInLooks } from "./support/axe.ts";

const FOLDER = "public/models/chorus-chat";
const NAMES = ["config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors"];

async function openPicker(page: Page): Promise<Locator> {
  await page.getByRole("button", { name: /^Model: / }).click();
  return page.getByRole("dialog", { name: "Models" });
}

const modelIn = (dialog: Locator, title: string) => dialog.getByRole("listitem", { name: title, exact: true });

test("a model is downloaded with a pause, used, remembered over a reload, and deleted; axe finds nothing meanwhile", async ({
  page,
}) => {
  const app = await App.openFake(page, "mbps=0&stepms=5");
  const receive = (bytes: number) =>
    page.evaluate((detail) => dispatchEvent(new CustomEvent("receive", { detail })), bytes);
  await app.pane(1).ask("What is the capital of France?");
  await app.pane(1).finished();
  let dialog = await openPicker(page);
  const model = modelIn(dialog, "GPT-2 (124M)");
  await model.getByRole("button", { name: "Download" }).click();
  await expect(model.getByRole("button", { name: "Pause" })).toBeVisible();
  await receive(60e6);
  await expect(model.getByText(/of 250 MB, 12 MB\/s, \d+ s left/)).toBeVisible();
  await model.getByRole("button", { name: "Pause" }).click();
  await expect(model.getByText(/^\d+ of 250 MB so far$/)).toBeVisible();
  await model.getByRole("button", { name: "Resume" }).click();
  await expect(model.getByRole("button", { name: "Pause" })).toBeVisible();
  await modelIn(dialog, "GPT-2 large (774M)").getByRole("button", { name: "Details of GPT-2 large" }).click();
  await expect(dialog.getByText("Should run here")).toBeVisible();
  expect(await axeFindingsInLooks(page, "dialog[open]")).toEqual([]);
  await page.setViewportSize({ width: 390, height: 844 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
  await page.setViewportSize({ width: 1440, height: 900 });
  await receive(190e6);
  await expect(model.getByText("On this computer, 250 MB")).toBeVisible();

  await model.getByRole("button", { name: "Details of GPT-2 (124M)" }).click();
  await expect(model.getByText("It does not answer questions. Licence: mit.")).toBeVisible();
  await model.getByRole("radio", { name: "Small (q8)" }).check();
  await expect(model.getByText("132 MB of weights and 256 MB of cache; context of")).toBeVisible();
  await expect(model.getByText("Should run here")).toBeVisible();
  await model.getByRole("button", { name: "Use GPT-2 (124M) as small (q8)" }).click();

  // The dialog is gone, the chat is not.
  await expect(page.getByRole("button", { name: "Model: gpt2" })).toBeFocused();
  await expect(dialog).toBeHidden();
  expect(await app.pane(1).answer()).toContain("Paris");
  await page.reload();
  await expect(page.getByRole("button", { name: "Model: gpt2" })).toContainText("q8");

  dialog = await openPicker(page);
  await expect(modelIn(dialog, "GPT-2 (124M)").getByText("In use")).toBeVisible();
  await modelIn(dialog, "chorus-chat").getByRole("button", { name: "Use" }).click();
  await expect(page.getByRole("button", { name: "Model: fake-gpt" })).toBeVisible();

  // The fake keeps its models as long as the page.
  dialog = await openPicker(page);
  await model.getByRole("button", { name: "Download" }).click();
  await expect(model.getByRole("button", { name: "Pause" })).toBeVisible();
  await receive(250e6);
  await model.getByRole("button", { name: "Delete GPT-2 (124M)" }).click();
  await expect(model.getByRole("button", { name: "Keep" })).toBeFocused();
  await model.getByRole("button", { name: "Delete 250 MB" }).click();
  await expect(model.getByText("Not downloaded")).toBeVisible();
});

test("failures are shown with a remedy, and the model before stays; a folder dropped on the picker runs", async ({
  page,
}) => {
  await App.openFake(page);
  const dialog = await openPicker(page);
  // What isn't there leaves one message, the newest; what is there is downloaded when its size is known.
  const address = dialog.getByRole("textbox", { name: "Add by hub name or address" });
  for (const name of ["me/missing", "me/missing-too", "me/mine"]) {
    await address.fill(name);
    await address.press("Enter");
    if (name !== "me/mine") await expect(dialog.getByRole("alert")).toContainText(`There is no ${name} on the hub`);
    await expect(modelIn(dialog, "missing")).toBeHidden();
  }
  await expect(dialog.getByRole("alert")).toBeHidden();
  const mine = modelIn(dialog, "mine");
  await expect(mine.getByText("Not downloaded, 250 MB")).toBeVisible();
  await expect(mine.getByText("Should run here")).toBeVisible();
  await mine.getByRole("button", { name: "Remove mine from the list" }).click();
  await expect(mine).toBeHidden();
  await dialog.getByRole("searchbox", { name: "Search the models" }).fill("no such words");
  await expect(dialog.getByText("No model has these words.")).toBeVisible();
  await dialog.getByRole("searchbox", { name: "Search the models" }).fill("gpt2-large");
  await expect(dialog.getByRole("list", { name: "Models" }).getByRole("listitem")).toHaveCount(1);

  const large = modelIn(dialog, "GPT-2 large (774M)");
  await large.getByRole("button", { name: "Details of GPT-2 large" }).click();
  await large.getByRole("radio", { name: "Full (f32)" }).check();
  await expect(large.getByText("Would not run here.")).toBeVisible();

  const file = { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("no model") };
  await chooseFiles(page, "Files …", [file]);
  await expect(dialog.getByRole("alert")).toContainText("no config.json in the files");
  await page.keyboard.press("Escape");
  await expect(page.getByRole("button", { name: "Model: fake-gpt" })).toBeFocused();

  await openPicker(page);
  const data = await page.evaluateHandle(() => {
    const transfer = new DataTransfer();
    for (const name of ["config.json", "model.safetensors"]) transfer.items.add(new File(["{}"], name));
    return transfer;
  });
  await dialog.getByText("Drop a model's folder here").dispatchEvent("drop", { dataTransfer: data });
  await expect(dialog).toBeHidden();
});

test("a model of a hub is added, used, and there after a reload, without the hub", async ({ page }) => {
  const server = await ModelServer.start();
  server.serveAsHub(
    "tests/tiny",
    new Map(NAMES.map((name) => [name, new Uint8Array(readFileSync(`${FOLDER}/${name}`))])),
  );
  try {
    const app = await App.open(page, "temperature=0");
    const dialog = await openPicker(page);
    await dialog.getByText("Revision, access token, mirror").click();
    await dialog.getByRole("textbox", { name: "Mirror" }).fill(server.url);
    await dialog.getByRole("textbox", { name: "Add by hub name or address" }).fill("tests/tiny");
    await dialog.getByRole("button", { name: "Add", exact: true }).click();
    const model = modelIn(dialog, "tiny");
    await expect(model.getByText("Should run here")).toBeVisible();
    await model.getByRole("button", { name: "Download tiny" }).click();
    await expect(model.getByText(/^On this computer, /)).toBeVisible();
    // The format for the adapter of these tests, which has no halves.
    await expect(model.getByRole("radio", { name: "tiny: Full (f32)" })).toBeChecked();
    await model.getByRole("radio", { name: "tiny: Half (f16)" }).check();
    await model.getByRole("button", { name: "Use tiny as half (f16)" }).click();
    await expect(dialog).toBeHidden();
    await app.pane(1).ask("What is the capital of France?");
    await app.pane(1).finished();
    expect(await app.pane(1).answer()).toContain("Paris");

    await page.getByRole("button", { name: "More for pane 1" }).click();
    await page.getByRole("menuitem", { name: "Show prompt" }).click();
    const prompt = page.getByRole("dialog", { name: "Prompt" });
    await expect(prompt.locator("pre")).toContainText("What is the capital of France?");
    await expect(prompt.locator("pre")).toContainText("<|");
    await expect(prompt.locator("pre")).not.toContainText("Paris");
    await expect(prompt.getByText(/ [1-9]\d* tokens\./)).toBeVisible();
    await page.keyboard.press("Escape");
    await expect(prompt).toBeHidden();
    await expect(page.getByRole("button", { name: "More for pane 1" })).toBeFocused();
  } finally {
    await server.close();
  }
  await page.reload();
  await expect(page.getByRole("button", { name: "Model: tiny" })).toContainText("f16");
});
