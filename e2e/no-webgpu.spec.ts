// Browsers and pages without a GPU. What has no SIMD either is in player.spec.ts.

import { expect, test } from "playwright/test";
import { App, ON_GPU } from "./support/app.ts";
import { answerRequests, beforeTheWorker, NO_ADAPTER, NO_WEBGPU } from "./support/before-the-worker.ts";

test("a browser without WebGPU chats on the CPU", async ({ page }) => {
  await beforeTheWorker(page, NO_WEBGPU);
  const app = await App.open(page, "backend=auto&temperature=0&max_tokens=16");
  await app.pane(1).ask("What is the capital of France?");
  await app.pane(1).finished();
  expect(await app.pane(1).answer()).toContain("Paris");
});

test("who has chosen the GPU, and has none, is told so above the chats, which the CPU answers", async ({ page }) => {
  await beforeTheWorker(page, NO_ADAPTER);
  const app = await App.open(page, `${ON_GPU}&temperature=0&max_tokens=16`);
  await expect(page.getByRole("status").filter({ hasText: "The GPU is not used." })).toContainText(
    "Turn on hardware acceleration",
  );
  await expect(page.getByLabel("Runs on")).toHaveValue("auto");
  await expect(page.getByRole("option", { name: "GPU (none found)" })).toBeDisabled();
  await app.pane(1).ask("What is the capital of France?");
  await app.pane(1).finished();
  expect(await app.pane(1).answer()).toContain("Paris");
});

test("a page without https says that it needs it", async ({ page, baseURL }) => {
  // Nobody is there: the build's files are.
  await answerRequests(page, "http://chorus.lan/**", async (route) => {
    const { pathname } = new URL(route.request().url());
    await route.fulfill({ response: await route.fetch({ url: new URL(`.${pathname}`, baseURL).href }) });
  });
  await page.goto("http://chorus.lan/");
  expect(await page.evaluate(() => isSecureContext)).toBe(false);
  await expect(page.getByRole("heading", { name: "This page needs https" })).toBeVisible();
  await expect(page.getByRole("main")).toContainText("Open this page over https:// or on localhost");
});
