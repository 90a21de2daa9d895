// A pane of the app that `npm run serve` answers, from another origin and with a key.

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "playwright/test";
import { App } from "./support/app.ts";

let server: ChildProcess;
let host: string;

test.beforeEach(async () => {
  const { origin } = new URL(process.env.CHORUS_E2E_FAKE_URL ?? "");
  const words = ["--model", "public/models/chorus-chat", "--backend", "cpu", "--port", "0"];
  server = spawn(process.execPath, ["tools/serve.mjs", ...words, "--api-key", "secret", "--cors", origin], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let printed = "";
  server.stdout?.on("data", (bytes) => (printed += String(bytes)));
  await expect.poll(() => printed).toContain("Ctrl+C");
  host = new URL(/Serving at (\S+)/.exec(printed)?.[1] ?? "").host;
});
test.afterEach(async () => {
  server.kill("SIGKILL");
  if (server.exitCode === null && server.signalCode === null) await once(server, "exit");
});

test("npm run serve answers a pane of another origin, and its end is said", async ({ page }) => {
  const app = await App.openFake(page);
  await app.listens();
  await page.getByRole("button", { name: /^Model:/ }).click();
  const dialog = page.getByRole("dialog", { name: "Models" });
  await dialog.getByRole("button", { name: "Connections" }).click();
  await dialog.getByRole("textbox", { name: "Add a server" }).fill(host);
  await dialog.getByLabel("Key", { exact: true }).fill("secret");
  await dialog.getByRole("button", { name: "Connect", exact: true }).click();
  await expect(dialog.getByRole("status")).toContainText("chorus-chat answers.");
  await dialog.getByRole("button", { name: "Use in pane 1" }).click();

  const pane = app.pane(1);
  await pane.ask("What is the capital of France?");
  await pane.finished();
  expect(await pane.answer()).toContain("Paris");

  server.kill("SIGKILL");
  await once(server, "exit");
  await pane.ask("Tell me a story about a fox.");
  await expect(pane.region.getByRole("heading", { name: "The server can't be reached" })).toBeVisible();
  // Nothing is lost: the message is back in the box.
  await expect(pane.message).toHaveValue("Tell me a story about a fox.");
});
