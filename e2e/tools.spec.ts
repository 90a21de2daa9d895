// Calls of tools: the starter on the embedded model, and an MCP server for a model on another.

import { expect, test } from "playwright/test";
import { mcpScript } from "../tests/remote/mcp-script.ts";
import { answerJson, ScriptedServer, type Script } from "../tests/remote/scripted-server.ts";
import { App } from "./support/app.ts";
import { axeFindings } from "./support/axe.ts";

test("a sum is a call that waits for a click, also after a reload; its result leads to an answer", async ({ page }) => {
  const app = await App.open(page, "temperature=0");
  await app.modelLoaded();
  await page.getByRole("button", { name: "What is 17 times 23?" }).click();
  const log = app.pane(1).log;
  await expect(log.getByRole("button", { name: "Run", exact: true })).toBeVisible();
  await expect(log.getByRole("list", { name: "Calls of tools" })).toContainText(
    /calculator.*expression.*Waits for you/s,
  );
  await page.reload();
  await log.getByRole("button", { name: "Run", exact: true }).press("Enter");
  await expect(log.locator("[data-answer]")).toHaveText(/\w/);
  await expect(log.getByRole("button", { name: "Run", exact: true })).toBeHidden();
  await log.locator("summary").click();
  await expect(log.getByRole("listitem")).toContainText(/Result\s*-?\d/);
  expect(await axeFindings(page)).toEqual([]);
});

const CORS = { "access-control-allow-origin": "*", "access-control-allow-headers": "*" };
const model: Script = ({ method, path, body }, response) => {
  if (method === "OPTIONS") return void response.writeHead(204, CORS).end();
  if (path === "/v1/models") return answerJson(200, { data: [{ id: "big" }] }, CORS)({} as never, response);
  const messages = body["messages"] as { role: string; content: string }[];
  const last = messages.at(-1);
  const name = last?.content === "Wait" ? "hang" : "weather";
  const call = { index: 0, id: "c", type: "function", function: { name, arguments: '{"city": "Rome"}' } };
  const delta = last?.role === "tool" ? { content: `It says: ${last.content}` } : { tool_calls: [call] };
  response.writeHead(200, { ...CORS, "content-type": "text/event-stream" });
  response.end(`data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: "stop" }] })}\n\n`);
};

test("an MCP server under Connections gives a pane its tools; one that hangs is stopped", async ({ page }) => {
  const tools = ["weather", "hang"].map((name) => ({ name, inputSchema: { type: "object" } }));
  const call = (name: string) => (name === "hang" ? null : { content: [{ type: "text", text: "Sunny" }] });
  await using models = await ScriptedServer.start(model);
  await using mcp = await ScriptedServer.start(
    mcpScript({ pages: [tools], key: "secret", session: { id: "s" }, call }),
  );
  const app = await App.openFake(page);
  await app.listens();
  const dialog = page.getByRole("dialog", { name: "Models" });
  const open = async () => {
    await page.getByRole("button", { name: /^Model:/ }).click();
    await dialog.getByRole("button", { name: "Connections" }).click();
  };
  await open();
  const address = dialog.getByRole("textbox", { name: "Add a server" });
  await address.fill(`http://${mcp.host}/mcp`);
  await dialog.getByLabel("It has tools, not models").check();
  await dialog.getByLabel("Key", { exact: true }).fill("wrong");
  await dialog.getByRole("button", { name: "Connect", exact: true }).click();
  await expect(dialog.getByRole("status")).toContainText("Access refused");
  await address.fill(`http://${mcp.host}/mcp`);
  await dialog.getByLabel("Key", { exact: true }).fill("secret");
  await dialog.getByRole("button", { name: "Connect", exact: true }).click();
  await expect(dialog.getByRole("status")).toContainText("It has the tools weather, hang.");
  expect(await axeFindings(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Use in pane 1" }).click();
  await open();
  await address.fill(models.host);
  await dialog.getByLabel("It has tools, not models").uncheck();
  await dialog.getByRole("button", { name: "Connect", exact: true }).click();
  await dialog
    .getByRole("listitem")
    .filter({ hasText: models.host })
    .getByRole("button", { name: "Use in pane 1" })
    .click();

  const pane = app.pane(1);
  await pane.ask("How is it?");
  const log = pane.log;
  await log.getByRole("button", { name: "Always run weather in this chat" }).click();
  await expect(log).toContainText("It says: Sunny");
  await pane.ask("And now?");
  await expect(log.getByText("It says: Sunny")).toHaveCount(2);
  await pane.ask("Wait");
  await log.getByRole("button", { name: "Run", exact: true }).click();
  await expect(log.getByText("Running…").first()).toBeVisible();
  await pane.stop.click();
  await log.getByRole("button", { name: "Don’t run" }).click();
  await expect(log).toContainText("It says: The person did not run this call.");
});
