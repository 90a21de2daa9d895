// How the engine serves: as a form and as a link.

import { expect, test, type Locator, type Page } from "playwright/test";
import { App, ENDLESS } from "./support/app.ts";

/** Opens the page of the serving settings. */
async function openServing(page: Page): Promise<Locator> {
  await page.getByRole("button", { name: "Settings for all panes" }).click();
  await page.getByRole("link", { name: "Serving settings" }).click();
  await expect(page.getByRole("heading", { name: "Serving", level: 1 })).toBeVisible();
  return page.getByRole("main");
}

const backToChats = (page: Page) => page.getByRole("link", { name: "Back to chats" }).click();

test("what can changes at once; what is fixed restarts the engine and keeps every chat; both are kept, and copied as a link", async ({
  page,
  context,
}) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const app = await App.openFake(page, "keep&panes=2&stepms=5");
  await app.pane(1).ask("What is the capital of France?");
  await app.pane(1).finished();

  const form = await openServing(page);
  const sequences = form.getByRole("textbox", { name: "Most answers at once" });
  await expect(sequences).toHaveAttribute("placeholder", "64");
  const apply = form.getByRole("button", { name: "Apply" });
  await sequences.fill("none");
  await expect(sequences).toHaveAttribute("aria-invalid", "true");
  await expect(sequences).toHaveAccessibleDescription(
    "Most answers at once (maxNumSeqs) must be a whole number from 1 to 1024.",
  );
  await apply.click();
  await expect(form).toContainText("Not applied yet. Most answers at once");
  await sequences.fill("1");
  await expect(sequences).toHaveAccessibleDescription(/Applied at once up to 64; more restarts the engine/);
  await expect(form).toContainText("Applied at once: nothing is interrupted.");
  await apply.click();
  await expect(form).toContainText("Applied.");
  await sequences.fill("65");
  await expect(form).toContainText("Applying this restarts the engine");
  await apply.press("Enter");
  await expect(form).toContainText("The engine restarted with these settings. All chats are kept.");
  await expect(apply).toBeFocused();

  await form.getByRole("combobox", { name: "Batching" }).selectOption("Static");
  await expect(form).toContainText("Applied at once: nothing is interrupted.");
  await apply.click();
  await expect(form).toContainText("Applied.");
  await backToChats(page);
  await expect(page.getByRole("radio", { name: "Static" })).toBeChecked();
  await expect(app.figure("Running")).toHaveText("0 of 65");
  expect(await app.pane(1).answer()).toBe("The capital of France is Paris.");
  await page.getByRole("radio", { name: "Sequential" }).check({ force: true });

  await page.reload();
  await expect(page.getByRole("radio", { name: "Sequential" })).toBeChecked();
  await openServing(page);
  await expect(sequences).toHaveValue("65");
  await form.getByRole("button", { name: "Reset serving" }).click();
  await apply.click();
  await expect(form).toContainText("Applied.");
  await page.goBack();
  await expect(page.getByRole("radio", { name: "Continuous" })).toBeChecked();
  expect(await app.pane(1).answer()).toBe("The capital of France is Paris.");

  // By keys alone.
  await page.keyboard.press("Control+k");
  await page.keyboard.type("serving");
  await page.keyboard.press("Enter");
  await expect(sequences).toBeVisible();

  await test.step("settings are copied as a link, thresholds of alerts included", async () => {
    await sequences.fill("4");
    await form.getByRole("combobox", { name: "Drafts" }).selectOption("ngram");
    await form.getByRole("textbox", { name: "Draft length" }).fill("4");
    await form.getByRole("combobox", { name: "Prefix cache" }).selectOption("off");
    const threshold = form.getByRole("textbox", { name: "Alert on the queue, over" });
    await expect(threshold).toHaveAttribute("placeholder", "100");
    await threshold.fill("1.5");
    await expect(threshold).toHaveAttribute("aria-invalid", "true");
    await threshold.fill("off");
    await form.getByRole("button", { name: "Apply" }).click();
    await expect(form).toContainText("The engine restarted with these settings.");
    await form.getByRole("button", { name: "Copy link" }).click();
    await expect
      .poll(() => page.evaluate(() => navigator.clipboard.readText()))
      .toMatch(
        /#\/\?maxNumSeqs=4&enablePrefixCaching=false&speculation.method=ngram&speculation.num_speculative_tokens=4&alerts.queueLength=off$/,
      );
  });
});

test("a link sets how the engine serves on its visit; a wrong one is refused by name", async ({ page }) => {
  const app = await App.openFake(page, `keep&panes=2&${ENDLESS}#/?maxNumSeqs=1`);
  await expect(page.getByText("Serving settings of this link, on this visit: maxNumSeqs 1.")).toBeVisible();
  await app.pane(1).ask("Why?");
  await app.pane(2).ask("Why not?");
  await expect(app.figure("Running")).toHaveText("1 of 1");
  await expect(app.figure("Waiting")).toHaveText("1");

  // Followed in the open page. The waiting question is asked again.
  await page.evaluate(() => location.assign("#/?maxNumSeqs=two&batchingMode=static"));
  await expect(
    page.getByText("The link's serving settings are not used. Most answers at once (maxNumSeqs)"),
  ).toBeVisible();
  await expect(page.getByRole("radio", { name: "Continuous" })).toBeChecked();
  await page.evaluate(() => location.assign("#/?maxNumSeqs=2&batchingMode=static"));
  await expect(page.getByText("on this visit: batchingMode static, maxNumSeqs 2.")).toBeVisible();
  await expect(page.getByRole("radio", { name: "Static" })).toBeChecked();
  await expect.poll(() => app.pane(2).answer()).toMatch(/\w/);
  await page.getByRole("button", { name: "Dismiss" }).first().click();
  await expect(page.getByText("on this visit")).toBeHidden();

  // Without the link: as before.
  await page.evaluate(() => history.replaceState(null, "", "#/"));
  await page.reload();
  await expect(page.getByRole("radio", { name: "Continuous" })).toBeChecked();
  const form = await openServing(page);
  await expect(form.getByRole("textbox", { name: "Most answers at once" })).toHaveValue("");
});

test("a draft model is loaded by its name, and one that can't be loaded changes nothing", async ({ page }) => {
  const drafts = "speculation.method=draft_model&speculation.model=models/chorus-chat/";
  const app = await App.open(page, `temperature=0#/?${drafts}`);
  await app.modelLoaded();
  await app.pane(1).ask("What is the capital of France?");
  await app.pane(1).finished();
  const drafted = await app.pane(1).answer();

  const form = await openServing(page);
  const model = form.getByRole("textbox", { name: "Draft model" });
  await expect(model).toHaveValue("models/chorus-chat/");
  await model.fill("models/nowhere/");
  await form.getByRole("button", { name: "Apply" }).click();
  await expect(form).toContainText("The settings before are used again.");
  await expect(form).toContainText("models/nowhere/");
  // It fails while nobody looks.
  let letGo = () => {};
  const isLetGo = new Promise<void>((resolve) => (letGo = resolve));
  await page.route("**/models/elsewhere/**", (route) => isLetGo.then(() => route.continue()));
  await model.fill("models/elsewhere/");
  await form.getByRole("button", { name: "Apply" }).click();
  await backToChats(page);
  letGo();
  const toast = page.getByRole("status").filter({ hasText: "The settings before are used again." });
  await expect(toast).toContainText("models/elsewhere/");
  await toast.getByRole("button", { name: "Close" }).click();

  await openServing(page);
  await form.getByRole("combobox", { name: "Drafts" }).selectOption("");
  await form.getByRole("button", { name: "Apply" }).click();
  await expect(form).toContainText("Applied.");
  await backToChats(page);
  await app.pane(1).turn.getByRole("button", { name: "Regenerate" }).click();
  await app.pane(1).finished();
  expect(await app.pane(1).answer()).toBe(drafted);

  // A link of somebody who has another draft model.
  await page.goto("about:blank");
  await App.open(page, "temperature=0#/?speculation.method=draft_model&speculation.model=models/nowhere/");
  await expect(page.getByText("The engine runs without drafts.")).toContainText("models/nowhere/");
  await app.modelLoaded();
});
