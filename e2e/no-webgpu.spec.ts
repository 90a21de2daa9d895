import { expect, test, type Page } from "playwright/test";
import { App } from "./support/app.ts";

/** Collects the addresses that the page requests. */
function recordRequests(page: Page): string[] {
  const urls: string[] = [];
  page.on("request", (request) => urls.push(request.url()));
  return urls;
}

test("a browser without WebGPU shows what to do, and downloads no model", async ({ page }) => {
  await page.addInitScript(() => Reflect.deleteProperty(Navigator.prototype, "gpu"));
  const requests = recordRequests(page);
  await App.open(page);
  await expect(page.getByRole("heading", { name: "no WebGPU" })).toBeVisible();
  await expect(page.getByRole("main")).toContainText(/Chrome|Edge|Safari|Firefox/);
  expect(requests.filter((url) => url.includes("/models/"))).toEqual([]);
});

test("so does a browser with WebGPU but without an adapter", async ({ page }) => {
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

test("a page without https says that it needs it", async ({ page, baseURL }) => {
  // Nobody is there: the build's files are.
  await page.route("http://chorus.lan/**", async (route) => {
    const { pathname } = new URL(route.request().url());
    await route.fulfill({ response: await route.fetch({ url: new URL(`.${pathname}`, baseURL).href }) });
  });
  await page.goto("http://chorus.lan/");
  expect(await page.evaluate(() => isSecureContext)).toBe(false);
  await expect(page.getByRole("heading", { name: "no WebGPU" })).toBeVisible();
  await expect(page.getByRole("main")).toContainText("https");
});
