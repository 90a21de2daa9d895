import { expect, test } from "playwright/test";
import { App, rendered } from "./support/app.ts";
import { axeFindings } from "./support/axe.ts";

test("settings: for all panes and for one, with probabilities shown and what is not valid said", async ({ page }) => {
  const app = await App.openFake(page, "panes=2&stepms=5");
  const all = page.getByRole("dialog", { name: "Settings for all panes" });

  await test.step("the few settings that most people want come first; the rest is remembered as open, and counted while closed", async () => {
    await page.getByRole("button", { name: "Settings for all panes" }).click();
    await expect(all.getByRole("textbox")).toHaveCount(3);
    for (const name of ["System prompt", "Temperature", "Maximum answer length"]) {
      await expect(all.getByRole("textbox", { name })).toBeInViewport();
    }
    const more = all.locator("summary");
    await more.press("Enter");
    await all.getByRole("textbox", { name: "Top k" }).fill("20");
    await all.getByRole("textbox", { name: "Top p" }).fill("7");
    await more.press("Enter");
    await expect(all.getByRole("textbox", { name: "Top p" })).toBeHidden();
    await expect(more).toHaveText(/More\s*1 set 1 not valid/);
    await more.press("Enter");
    await all.getByRole("button", { name: "Reset all" }).click();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Settings of pane 2" }).click();
    await expect(page.getByRole("dialog").getByRole("textbox", { name: "Top k" })).toBeVisible();
    await page.keyboard.press("Escape");
  });

  await test.step("settings for all panes apply to each pane, a pane's own override them, and each can be reset", async () => {
    await page.getByRole("button", { name: "Settings for all panes" }).click();
    const allTemperature = all.getByRole("textbox", { name: "Temperature" });
    // Nothing is set: the placeholder is the model's default.
    await expect(allTemperature).toHaveValue("");
    await expect(allTemperature).toHaveAttribute("placeholder", "0.6");
    await allTemperature.fill("0.3");
    const longest = all.getByRole("textbox", { name: "Maximum answer length" });
    await longest.fill("many");
    await expect(all).toContainText("Maximum answer length must be a whole number from 1 to 1000000.");
    await expect(longest).toHaveAttribute("aria-invalid", "true");
    await longest.fill("2");
    await expect(all).not.toContainText("must be");
    await page.keyboard.press("Escape");

    await page.getByRole("button", { name: "Settings of pane 2" }).click();
    const own = page.getByRole("dialog", { name: "Settings of pane 2" });
    await expect(own.getByRole("textbox", { name: "Temperature" })).toHaveAttribute("placeholder", "0.3 (all panes)");
    await own.getByRole("textbox", { name: "Maximum answer length" }).fill("4");
    await own.getByRole("button", { name: "Close" }).click();

    for (const [number, answer] of [
      [1, "The capital"],
      [2, "The capital of France"],
    ] as const) {
      const pane = app.pane(number);
      await pane.ask("What is the capital of France?");
      await pane.finished();
      await expect(pane.ending).toHaveText("Reached the length limit");
      expect(await pane.answer()).toBe(answer);
    }

    await page.getByRole("button", { name: "Settings for all panes" }).click();
    await all.getByRole("button", { name: "Reset maximum answer length" }).click();
    await page.keyboard.press("Escape");
    await app.pane(1).turn.getByRole("button", { name: "Regenerate" }).click();
    await expect(app.pane(1).ending).toHaveText("Finished");
  });

  await test.step("probabilities are shown when enabled, to pointer and keyboard, and nothing moves", async () => {
    await app.openSettings("for all panes");
    await all.getByRole("button", { name: "Creative" }).click();
    await expect(all.getByRole("textbox", { name: "Temperature" })).toHaveValue("1.1");
    await all.getByRole("combobox", { name: "Show probabilities" }).selectOption("on");
    await page.keyboard.press("Escape");
    await app.pane(1).ask("What is the capital of France?");
    await app.pane(1).finished();

    const answer = app.pane(1).turn.locator("[data-answer]");
    await rendered(page);
    const before = await answer.boundingBox();
    // Its words are ready, and this is the first one.
    await expect(app.pane(1).turn.getByRole("slider")).toBeAttached();
    await answer.hover({ position: { x: 8, y: 12 } });
    await expect(page.getByText("␣other4")).toBeVisible();
    expect(await answer.boundingBox()).toEqual(before);
    await page.mouse.move(0, 0);
    await expect(page.getByText("␣other4")).toBeHidden();

    const words = app.pane(1).turn.getByRole("slider");
    await words.press("ArrowRight");
    await expect(words).toHaveAttribute("aria-valuetext", /^The, 50\.0%\. Others: ␣other1 20\.0%/);
    await words.press("ArrowRight");
    await expect(words).toHaveAttribute("aria-valuetext", /^␣capital, 50\.0%/);
    const shaded = await page.evaluate(() => [...(CSS.highlights.get("likelihood-2") ?? [])].map(String));
    expect(shaded.slice(0, 2)).toEqual(["The", " capital"]);

    // The card that Enter keeps has the alternatives; one of them goes on in a pane beside.
    await words.press("Enter");
    const card = page.getByRole("dialog", { name: "Alternatives" });
    await card.getByRole("button", { name: "Go on with ␣other2" }).press("Enter");
    await expect(app.pane(3).turn.locator("[data-answer]")).toContainText("The other2");
    await expect(app.pane(3).turn).toContainText(/Continued with “␣other2” \(\d+ of \d+ prompt tokens computed/);
    await app.pane(3).finished();
    await page.getByRole("button", { name: "Close pane 3" }).click();
    // The setting off: a button under the answer shows them.
    await app.pane(1).turn.getByRole("button", { name: "Probabilities" }).click();
    await expect(words).toBeHidden();
  });

  await test.step("what is not valid is said under its field", async () => {
    await page.getByRole("button", { name: "Settings for all panes" }).click();
    await all.getByRole("button", { name: "Insert example: Answer in JSON" }).click();
    const schema = all.getByRole("textbox", { name: "Answer in JSON" });
    await expect(schema).toHaveValue(/"properties"/);
    await schema.fill("{ not json");
    await expect(all).toContainText("Answer in JSON must be JSON (");
    await schema.fill('{ "type": "object", "properties": { "tags": { "type": "array", "uniqueItems": true } } }');
    await expect(all).toContainText("schema.properties.tags.uniqueItems is not supported: it can be held for");
    await expect(schema).toHaveAttribute("aria-invalid", "true");
    await schema.fill('{ "type": "object", "properties": { "age": { "type": "integer" } } }');
    await expect(all).not.toContainText("uniqueItems is not supported");
    await expect(schema).toHaveAttribute("aria-invalid", "false");
    await all.getByRole("button", { name: "Reset all" }).click();
    await expect(all.getByRole("textbox", { name: "Temperature" })).toHaveValue("");
  });
});

test("settings reach the model: a word is biased away, an answer continues exactly, others grow side by side or with another seed", async ({
  page,
}) => {
  const app = await App.open(page, "temperature=0");
  const [pane, second] = [app.pane(1), app.pane(2)];
  const own = page.getByRole("dialog", { name: "Settings of pane 1" });
  const set = async (fields: Readonly<Record<string, string>>) => {
    await app.openSettings("of pane 1");
    for (const [name, value] of Object.entries(fields)) await own.getByRole("textbox", { name }).fill(value);
    await page.keyboard.press("Escape");
  };

  await test.step("a word that is biased away does not come", async () => {
    await pane.ask("What is the capital of France?");
    await pane.finished();
    expect(await pane.answer()).toContain("Paris");
    const bias = (await app.openSettings("of pane 1")).getByRole("textbox", { name: "Logit bias" });
    await bias.fill("Paris");
    await expect(own).toContainText('Logit bias must be at most 16 lines such as "Paris: 5"');
    await bias.fill("Paris: -100");
    await page.keyboard.press("Escape");
    await pane.turn.getByRole("button", { name: "Regenerate" }).click();
    await pane.finished();
    await expect.poll(() => pane.answer()).toMatch(/^(?!.*Paris).*\w/s);
    await set({ "Logit bias": "" });
  });

  await test.step("an answer cut by the length limit continues exactly as it would have", async () => {
    await app.addPanes(2);
    await second.ask("Tell me a story about a fox.");
    await second.finished();

    await pane.message.focus();
    await page.getByRole("button", { name: "New chat" }).click();
    await app.openSettings("of pane 1");
    await expect(own).toContainText("trained without system prompts");
    await expect(own).toContainText(/ reads [\d,]+ tokens in all, the conversation and its answer together\./);
    await page.keyboard.press("Escape");
    await set({ "Maximum answer length": "12" });
    await pane.ask("Tell me a story about a fox.");
    await expect(pane.ending).toHaveText("Reached the length limit");
    const cut = await pane.answer();
    expect((await second.answer()).startsWith(cut)).toBe(true);

    await app.openSettings("of pane 1");
    await own.getByRole("button", { name: "Reset maximum answer length" }).click();
    await page.keyboard.press("Escape");
    await pane.turn.getByRole("button", { name: "Continue" }).click();
    await expect(pane.ending).not.toHaveText("Reached the length limit");
    await pane.finished();
    const full = await pane.answer();
    expect(full.startsWith(cut)).toBe(true);
    expect(full.length).toBeGreaterThan(cut.length + 20);
  });

  await test.step("several answers grow side by side, and the chat goes on with the chosen one; beams give the best ones", async () => {
    await set({ Temperature: "1", Seed: "5", "Maximum answer length": "24", Answers: "3" });
    await pane.ask("Tell me a story about a fox.");
    await pane.finished();
    const choices = pane.turn.getByRole("radio");
    await expect(choices).toHaveCount(3);
    const shown = pane.turn.getByRole("radiogroup", { name: "Answer to go on with" });
    const first = await pane.answer();
    await choices.nth(0).focus();
    await page.keyboard.press("ArrowRight");
    await expect(choices.nth(1)).toBeChecked();
    const chosen = await pane.answer();
    expect(chosen).not.toBe(first);
    await expect(shown).toContainText(first);

    await set({ Answers: "2", Beams: "4" });
    await pane.ask("What is the capital of France?");
    await pane.finished();
    // Only the newest question shows all its answers.
    await expect(pane.log).toContainText(chosen);
    await expect(pane.log).not.toContainText(first);
    await expect(choices).toHaveCount(2);
    expect(await pane.answer()).toMatch(/\w/);
  });

  await test.step("a copy of a pane with another seed, asked the same, marks the first word that differs", async () => {
    await page.getByRole("button", { name: "Close pane 2" }).click();
    await pane.message.focus();
    await page.getByRole("button", { name: "New chat" }).click();
    await set({ Answers: "", Beams: "" });
    await page.getByRole("button", { name: "More for pane 1" }).click();
    await page.getByRole("menuitem", { name: "Duplicate" }).click();
    const copy = app.pane(3);
    await (await app.openSettings("of pane 3")).getByRole("textbox", { name: "Seed" }).fill("2");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Send to all" }).click();
    await page.getByRole("dialog", { name: "Send to all" }).getByRole("textbox").fill("Tell me a story about a fox");
    await page.keyboard.press("Enter");
    const told = /Differs from pane \d at word \d+: “(\S+)”, there “(\S+)”/;
    await expect(copy.turn.getByText(told)).toBeVisible();
    const [, seen, other] = told.exec(await copy.turn.innerText()) ?? [];
    await expect(pane.turn).toContainText(`“${other}”, there “${seen}”`);
    const marked = () =>
      page.evaluate(() =>
        Array.from(CSS.highlights.get("differs") ?? [], ({ startContainer, startOffset, endOffset }) =>
          startContainer.textContent?.slice(startOffset, endOffset),
        ).toSorted(),
      );
    await expect.poll(marked).toEqual([seen, other].toSorted());
    for (const number of [1, 3]) expect(await axeFindings(page, `[aria-label="Pane ${number}"]`)).toEqual([]);
  });
});
