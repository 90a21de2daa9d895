import { expect, it } from "vitest";

import { serveFolders } from "./file-server.ts";

it("serves the named folders to isolated pages, and nothing beside them", async () => {
  const server = await serveFolders(new Map([["engines", `${import.meta.dirname}/engines`]]));
  try {
    const get = (/** @type {string} */ path) => fetch(server.url + path);
    const page = await get("engines/page.html?chorus");
    expect(page.status).toBe(200);
    expect(page.headers.get("content-type")).toBe("text/html");
    expect(page.headers.get("cross-origin-embedder-policy")).toBe("require-corp");
    expect(page.headers.get("cross-origin-opener-policy")).toBe("same-origin");
    expect(Number(page.headers.get("content-length"))).toBe((await page.arrayBuffer()).byteLength);
    for (const path of [
      "engines/none.html",
      "engines/",
      "engines/%2e%2e%2fpeers.mjs",
      "package.json",
      "other/page.html",
    ]) {
      expect((await get(path)).status).toBe(404);
    }
  } finally {
    server.close();
  }
});
