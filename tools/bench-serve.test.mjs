import { createServer } from "node:http";
import { expect, it } from "vitest";

import { servedModel } from "../lab/runs/bench-serve.ts";

it.each([
  [401, "{}", "give the server's key with --apiKey"],
  [503, "{}", "answered 503"],
  [200, "<html>", "without a list of models"],
  [200, '{"data": []}', "without a list of models"],
])("a server that answers %i %s ends the benchmark with the reason", async (status, body, message) => {
  const server = createServer((_, response) => response.writeHead(status).end(body)).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  await expect(servedModel(`http://127.0.0.1:${port}`, null)).rejects.toThrow(message);
  server.closeAllConnections();
  server.close();
});
