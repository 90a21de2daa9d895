// WCAG 2.2 AA, as far as axe can check it, in every state, light on a desktop and dark on a phone. Then what axe can't check.
// (The page where nothing can compute is in player.spec.ts.)

import { expect, test } from "playwright/test";
import { App, ENDLESS } from "./support/app.ts";
import { axeFindings, axeFindingsInLooks as findings } from "./support/axe.ts";

/** A modal dialog makes the page below inert, which was checked without it. */
const DIALOG = "dialog[open]";

test("axe finds nothing while the model loads, in empty chats, in dialogs, while answers stream, and after loading failed", async ({
  page,
}) => {
  const app = await App.openFake(page, `${ENDLESS}&stepms=100&load=held`);
  await expect(page.getByText("Getting chorus-chat ready")).toBeVisible();
  expect(await findings(page), "loading").toEqual([]);
  await page.evaluate(() => dispatchEvent(new Event("startload")));
  await app.modelLoaded();
  await app.addPanes(3);
  expect(await findings(page), "empty chats").toEqual([]);

  for (const keys of ["Control+k", "?"]) {
    await app.pane(1).log.focus();
    await page.keyboard.press(keys);
    await expect(page.getByRole("dialog")).toBeVisible();
    expect(await findings(page, DIALOG), keys).toEqual([]);
    await page.keyboard.press("Escape");
  }
  await page.getByRole("button", { name: "Send to all" }).click();
  await expect(page.getByRole("dialog", { name: "Send to all" })).toBeVisible();
  expect(await findings(page, "dialog:popover-open"), "Send to all").toEqual([]);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Settings for all panes" }).click();
  await expect(page.getByRole("dialog", { name: "Settings for all panes" })).toBeVisible();
  await page.getByRole("dialog").getByText("More", { exact: true }).click();
  expect(await findings(page, DIALOG), "settings").toEqual([]);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "About batching" }).click();
  await expect(page.getByRole("dialog").getByRole("img")).toBeVisible();
  expect(await findings(page, DIALOG), "an explanation").toEqual([]);
  await page.keyboard.press("Escape");

  for (const number of [1, 2, 3]) await app.pane(number).ask("Tell me a story about a fox");
  await expect.poll(() => app.pane(1).answer()).toMatch(/\w/);
  await expect(app.pane(1).stop).toBeVisible();
  expect(await findings(page), "streaming").toEqual([]);

  await App.openFake(page, "fail=model_not_found");
  await expect(page.getByRole("button", { name: "Try again" }).first()).toBeVisible();
  expect(await findings(page), "failed").toEqual([]);
});

test("axe finds nothing in an answer's figures and variants, alerts, a toast, a word's alternatives and the list of chats", async ({
  page,
}) => {
  const app = await App.openFake(page, "panes=2&stepms=5");
  const pane = app.pane(1);
  await pane.ask("What is the capital of France?");
  await pane.finished();
  await pane.turn.getByRole("button", { name: "Regenerate" }).click();
  await pane.finished();
  // Its Markdown begins with a heading of the second depth.
  await pane.ask("How do I make pancakes?");
  await pane.finished();
  await pane.turn.getByRole("button", { name: "Figures" }).click();
  await expect(app.batch.getByText("No alerts")).toBeVisible();
  await app.raiseAlert("queue_length", 128);
  await expect(app.batch.getByText("128 in the queue")).toBeVisible();
  await expect(app.batch.getByText("Alerts: queue_length: 128."), "in full for screen readers").toBeAttached();
  await page.getByRole("button", { name: "Close pane 2" }).click();
  await expect(page.getByRole("button", { name: "Undo" })).toBeVisible();
  // A toast under the pointer stays.
  await page.getByRole("button", { name: "Undo" }).hover();
  expect(await findings(page), "figures, variants, an alert and a toast").toEqual([]);

  await pane.turn.getByRole("button", { name: "Probabilities" }).click();
  await pane.turn.getByRole("slider").press("ArrowRight");
  await pane.turn.getByRole("slider").press("Enter");
  await expect(page.getByRole("button", { name: /^Go on with \S+ [\d.]+% in a new pane$/ }).first()).toBeVisible();
  expect(await axeFindings(page), "alternatives").toEqual([]);
  await page.keyboard.press("Escape");

  await page.getByRole("button", { name: "Close pane 1" }).click();
  await page.keyboard.press("Alt+h");
  await page.getByRole("button", { name: "Delete What is the capital of France?" }).click();
  await expect(page.getByRole("button", { name: "Keep" })).toBeVisible();
  expect(await findings(page, DIALOG), "chats").toEqual([]);
});

test("axe finds nothing in the demo, nor on the pages of the benchmark, of serving, and of a document", async ({
  page,
}) => {
  // Slow enough to be seen while it runs.
  await App.openFake(page, "max_tokens=4&stepms=200");
  await page.getByRole("link", { name: "Demo", exact: true }).click();
  await expect(page.getByRole("region", { name: "Demo" })).toBeVisible();
  expect(await findings(page), "the demo runs").toEqual([]);
  await expect(page.getByRole("button", { name: "Run again" })).toBeEnabled();
  expect(await findings(page), "its result").toEqual([]);

  await page.evaluate(() => (location.hash = "#/bench"));
  await expect(page.getByRole("button", { name: /^Measure/ })).toBeVisible();
  await page.locator("summary", { hasText: "More" }).click();
  expect(await findings(page), "the benchmark").toEqual([]);
  await page.evaluate(() => (location.hash = "#/serving"));
  await expect(page.getByRole("button", { name: "Apply" })).toBeVisible();
  expect(await findings(page), "serving").toEqual([]);
  await page.evaluate(() => (location.hash = "#/docs/tuning"));
  await expect(page.getByRole("heading", { name: "Tuning" })).toBeFocused();
  expect(await findings(page), "a document").toEqual([]);
});

test("by keys alone: the focus stays where it was put, dialogs take what is typed, the palette runs commands", async ({
  page,
}) => {
  await page.addInitScript(() => {
    new MutationObserver((_, observer) => {
      const button = document.querySelector<HTMLElement>('[aria-label="Collapse Batch"]');
      if (button) observer.disconnect();
      button?.focus();
    }).observe(document, { childList: true, subtree: true });
  });
  const app = await App.openFake(page, `${ENDLESS}&stepms=20`);
  const [first, second] = [app.pane(1), app.pane(2)];
  const palette = page.getByRole("dialog", { name: "Commands" });

  await test.step("a button that gets the focus as soon as it appears keeps it", async () => {
    await app.modelLoaded();
    await app.listens();
    await expect(page.getByRole("button", { name: "Collapse Batch" })).toBeFocused();
  });

  await test.step("what is typed right after the keys of a dialog is in it, also the first time", async () => {
    // The dialog's code comes by itself once there is time.
    await expect.poll(() => page.evaluate(() => performance.getEntriesByName("parts-loaded").length)).toBe(1);
    await page.keyboard.press("Alt+h");
    await page.keyboard.insertText("fox");
    const words = page.getByRole("dialog").getByRole("searchbox");
    await expect(words).toHaveValue("fox");
    await expect(first.message).toHaveValue("");
    // The first one empties the box.
    for (let times = 0; times < 2; times++) await page.keyboard.press("Escape");
    await expect(words).toBeHidden();
  });

  await test.step("the palette can be reopened right after it was closed", async () => {
    await page.keyboard.press("Control+k");
    await page.keyboard.type("light");
    // Both before the browser says that it has closed.
    await palette.evaluate((dialog: HTMLDialogElement) => {
      dialog.close();
      document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "k", ctrlKey: true, bubbles: true }));
    });
    await page.keyboard.type("dark");
    await page.keyboard.press("Enter");
    await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  });

  const charts = app.batch.getByRole("region", { name: "Charts" });
  await test.step("typing triggers no command; keys add panes and go through them", async () => {
    await expect(charts).toBeVisible();
    await first.message.pressSequentially("?");
    await expect(first.message).toHaveValue("?");
    await expect(page.getByRole("dialog")).toBeHidden();
    await page.keyboard.press("Alt+n");
    await expect(second.message).toBeFocused();
    await page.keyboard.press("Alt+ArrowUp");
    await expect(first.message).toBeFocused();
  });

  await test.step("the palette does what the buttons do, and moves the focus to the right place", async () => {
    const command = async (words: string) => {
      await page.keyboard.press("Control+k");
      await page.keyboard.type(words);
      await page.keyboard.press("Enter");
    };
    await command("light");
    await expect(page.locator("html")).toHaveAttribute("data-theme", "light");
    await expect(first.message).toBeFocused();
    await command("settings for all");
    await expect(page.getByRole("dialog", { name: "Settings for all panes" })).toBeVisible();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Alt+b");
    await expect(charts).toBeHidden();
    await command("charts");
    await expect(charts).toBeFocused();
    await page.keyboard.press("Alt+a");
    await expect(page.getByRole("dialog", { name: "Send to all" }).getByRole("textbox")).toBeFocused();
    await page.keyboard.press("Escape");
  });

  await test.step("everything can be reached, in visual order", async () => {
    // The first round starts at the focus; the second one, after the last element, at the top.
    const reached: string[] = [];
    let rounds = 0;
    while (rounds < 2 && reached.length < 200) {
      await page.keyboard.press("Tab");
      const name = await page.evaluate(() => {
        const element = document.activeElement;
        if (element === null || element === document.body) return null;
        const pane = element.closest("section[aria-label]")?.getAttribute("aria-label");
        return `${pane ?? "Page"}: ${element.getAttribute("aria-label") ?? element.textContent}`;
      });
      if (name !== null) reached.push(name);
      else if (++rounds === 1) reached.length = 0;
    }
    const names = ["Page: Add pane", "Pane 1: Message", "Pane 1: Send", "Pane 2: Message", "Pane 2: Send"];
    const places = names.map((name) => reached.indexOf(name));
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
  });

  await test.step("each answer is announced once, when it has ended", async () => {
    await page.evaluate(() => {
      const spoken: string[] = [];
      Object.assign(window, { spoken });
      new MutationObserver((changes) => {
        for (const { target, addedNodes } of changes) {
          const region = (target instanceof Element ? target : target.parentElement)?.closest(
            "[aria-live], output, [role=status]",
          );
          if (region?.getAttribute("aria-live") === "off") continue;
          if (region) spoken.push(...Array.from(addedNodes, (node) => node.textContent ?? "").filter(Boolean));
        }
      }).observe(document.body, { childList: true, subtree: true });
    });
    await first.ask("What is the capital of France?");
    const spoken = () => page.evaluate(() => (window as unknown as { spoken: string[] }).spoken);
    await expect.poll(spoken).toHaveLength(1);
    expect((await spoken())[0]).toMatch(/^Pane 1: .*\w/);
    await expect(first.log).toHaveAttribute("aria-live", "off");
  });

  await test.step("single keys can be turned off; Escape stops an answer", async () => {
    await first.log.focus();
    await page.keyboard.press("?");
    const list = page.getByRole("dialog", { name: "Help" });
    await list.getByRole("checkbox").uncheck();
    await page.keyboard.press("Escape");
    await page.keyboard.press("?");
    await expect(list).toBeHidden();

    await first.ask("Tell me a story about a fox");
    await expect(first.stop).toBeVisible();
    await page.keyboard.press("Escape");
    await expect(first.stop).toBeHidden();
  });
});
