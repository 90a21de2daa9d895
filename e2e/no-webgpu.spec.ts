import { expect, test, type Page } from "playwright/test";
import { App } from "./support/app.ts";

/** The addresses of what the page asks the server for. */
function recordRequests(page: Page): string[] {
  const urls: string[] = [];
  page.on("request", (request) => urls.push(request.url()));
  return urls;
}

test("a browser without WebGPU is told what to do, and downloads no model", async ({ page }) => {
  await page.addInitScript(() => Reflect.deleteProperty(Navigator.prototype, "gpu"));
  const requests = recordRequests(page);
  await App.open(page);
  await expect(page.getByRole("heading", { name: "no WebGPU" })).toBeVisible();
  await expect(page.getByRole("main")).toContainText(/Chrome|Edge|Safari|Firefox/);
  expect(requests.filter((url) => url.includes("/models/"))).toEqual([]);
});

test("so is one that has WebGPU but no adapter for it", async ({ page }) => {
  await page.route("**/engine.worker*.js", async (route) => {
    const response = await route.fetch();
    const body = `GPU.prototype.requestAdapter = async () => null;\n${await response.text()}`;
    await route.fulfill({ response, body });
  });
  const requests = recordRequests(page);
  await App.open(page);
  await expect(page.getByRole("heading", { name: "no graphics adapter" })).toBeVisible();
  expect(requests.filter((url) => url.endsWith(".safetensors"))).toEqual([]);
});
