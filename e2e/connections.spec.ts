// Panes that servers answer: added by address, tested, chosen for a pane, beside one that the page answers itself.

import { expect, test } from "playwright/test";
import { answerJson, ScriptedServer, type Script } from "../tests/remote/scripted-server.ts";
import { App } from "./support/app.ts";

const chunk = (content: string, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason }] })}\n\n`;

let server: ScriptedServer;
/** Ends the answer that the server has begun. */
let finish = () => {};
/** Which origins may read. */
let allowed = "*";

const script: Script = (request, response) => {
  response.setHeader("access-control-allow-origin", allowed);
  response.setHeader("access-control-allow-headers", "authorization, content-type");
  if (request.method === "OPTIONS") return void response.writeHead(204).end();
  if (request.headers.authorization !== "Bearer secret")
    return answerJson(401, { error: "Unauthorized" })(request, response);
  if (request.path === "/v1/models")
    return answerJson(200, { data: [{ id: "big-model", owned_by: "vllm" }] })(request, response);
  response.writeHead(200, { "content-type": "text/event-stream" });
  if (request.body["max_tokens"] === 1) return void response.end(chunk("Hi", "length"));
  response.write(chunk("An answer from **far away**"));
  finish = () => response.end(`${chunk(", whole.", "stop")}data: [DONE]\n\n`);
};

test.beforeEach(async () => {
  allowed = "*";
  server = await ScriptedServer.start(script);
});
test.afterEach(() => server.stop());

async function openConnections(app: App) {
  await app.listens();
  await app.page.getByRole("button", { name: /^Model:/ }).click();
  const dialog = app.page.getByRole("dialog", { name: "Models" });
  await dialog.getByRole("button", { name: "Connections" }).click();
  return dialog;
}

test("a server answers one pane while the page answers another", async ({ page }) => {
  const app = await App.openFake(page, "panes=2&stepms=5");
  const dialog = await openConnections(app);
  await dialog.getByRole("textbox", { name: "Add a server" }).fill(server.host);
  await dialog.getByRole("button", { name: "Connect", exact: true }).click();
  await expect(dialog.getByRole("status")).toContainText("Access refused");
  await dialog.getByRole("textbox", { name: "Add a server" }).fill(server.host);
  await dialog.getByLabel("Key", { exact: true }).fill("secret");
  await dialog.getByRole("button", { name: "Connect", exact: true }).click();
  await expect(dialog.getByRole("status")).toContainText("big-model answers.");
  await expect(dialog.getByRole("listitem")).toContainText("vLLM, 1 model, key until this page closes");
  await dialog.getByRole("button", { name: "Use in pane 2" }).click();
  await expect(dialog).toBeHidden();

  await page.getByRole("button", { name: "Send to all", exact: true }).click();
  const sheet = page.getByRole("dialog", { name: "Send to all" });
  await sheet.getByRole("textbox").fill("Who are you?");
  await sheet.getByRole("button", { name: "Send" }).click();
  const [remote, local] = [app.pane(2), app.pane(1)];
  await expect(remote.turn).toContainText("An answer from far away");
  await local.finished();
  finish();
  await remote.finished();
  await expect(remote.turn).toContainText(`big-model at ${server.host}`);
  await expect(remote.region.getByText("tok/s")).toBeVisible();

  await expect(remote.turn).toContainText("Differs from pane 1 at word 1: “An”, there “There”");

  // The head moves the pane back to the page, whose settings and other panes stay.
  await expect(remote.message).toHaveAttribute("placeholder", `Message to big-model at ${server.host}`);
  await remote.message.fill("Hello");
  await expect(remote.region).toContainText(`Goes to big-model at ${server.host}, 5 characters`);
  await remote.region.getByRole("button", { name: `Pane 2 is answered by big-model at ${server.host}` }).click();
  await expect(page.getByRole("menuitemradio", { name: `big-model at ${server.host}` })).toBeChecked();
  await page.getByRole("menuitemradio", { name: "fake-gpt (this page)" }).click();
  await expect(remote.region.getByRole("button", { name: "Pane 2 is answered by fake-gpt" })).toBeFocused();

  // Nothing of the key is kept, since nobody asked for that.
  const kept = await page.evaluate(() => JSON.stringify({ ...localStorage }));
  expect(kept).toContain(server.host);
  expect(kept).not.toContain("secret");
});

test("the test of a connection names CORS and a dead server", async ({ page }) => {
  allowed = "https://elsewhere.example";
  const app = await App.openFake(page, "stepms=5");
  const dialog = await openConnections(app);
  await dialog.getByRole("textbox", { name: "Add a server" }).fill(`${server.baseUrl}/chat/completions`);
  await dialog.getByRole("button", { name: "Connect", exact: true }).click();
  await expect(dialog.getByRole("status")).toContainText("Not allowed for this page");
  await expect(dialog.getByRole("status")).toContainText(`--cors ${new URL(page.url()).origin}`);
  await server.stop();
  await dialog.getByRole("button", { name: "Test", exact: true }).click();
  await expect(dialog.getByRole("status")).toContainText("Nothing answers");
  server = await ScriptedServer.start(script);
});
