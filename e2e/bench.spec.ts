import { expect, test } from "playwright/test";

test("the benchmark page measures, shows and exports its figures", async ({ page }) => {
  // It measures, and so takes as long as the machine takes.
  test.slow();
  await page.goto(
    "./#/bench?backend=webgpu&quick&model=tiny&sections=decode,kernels&sequences=1,2&outputTokens=4&repeats=1",
  );
  await expect(page.getByRole("checkbox", { name: "Decode" })).toBeChecked();
  await expect(page.getByRole("checkbox", { name: "Growth" })).not.toBeChecked();
  await page.getByRole("button", { name: "Run" }).click();
  const status = page.getByRole("complementary", { name: "What to run" }).getByRole("status");
  await expect(status).toHaveText(/^Done in \d+ s$/, { timeout: 240_000 });

  const decode = page.getByRole("region", { name: "Decode" });
  const rows = decode.getByRole("table").getByRole("row");
  await expect(rows).toHaveCount(3);
  for (const [i, sequences] of ["1", "2"].entries()) {
    const cells = rows.nth(i + 1).getByRole("cell");
    await expect(cells.nth(0)).toHaveText(sequences);
    await expect(cells.nth(1)).toHaveText(/[1-9]/);
  }
  await expect(decode.getByRole("img", { name: "Tokens per second by sequences at once" })).toBeVisible();
  const kernels = page.getByRole("region", { name: "Kernels" });
  await expect(kernels.getByRole("table", { name: "Kernels of a decode of 1" })).toContainText("matmul");
  await expect(page.getByRole("complementary")).toContainText("tiny, random weights");

  const downloading = page.waitForEvent("download");
  await page.getByRole("button", { name: "JSON" }).click();
  const stream = await (await downloading).createReadStream();
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part as Buffer);
  const result = JSON.parse(Buffer.concat(parts).toString());
  expect(result.sections.map(({ id }: { id: string }) => id)).toEqual(["decode", "kernels"]);
  expect(result.environment.adapter).toBeTruthy();
});

test("a run can be stopped and started again; a link leads to the chats", async ({ page }) => {
  await page.goto("./#/bench?backend=webgpu&quick&model=tiny&sections=modes,growth");
  await page.getByRole("button", { name: "Run" }).click();
  await page.getByRole("button", { name: "Stop" }).click();
  await expect(page.getByRole("complementary", { name: "What to run" }).getByRole("status")).toHaveText(/^Stopped/);
  await expect(page.getByRole("button", { name: "Run" })).toBeEnabled();

  await page.getByRole("link", { name: "Back to chats" }).click();
  await expect(page.getByRole("region", { name: "Pane 1", exact: true })).toBeVisible();
  await page.goBack();
  await expect(page.getByRole("heading", { name: "Benchmark", level: 1 })).toBeVisible();
});
