import { expect, test } from "vitest";

import { locateRemoteModel } from "../../protocol/model-source.ts";
import { HttpClient } from "./http-client.ts";
import { openRemoteFolder } from "./remote-folder.ts";

test.each([
  "https://a.example/m/50%25.gguf?key=1",
  "https://a.example/m/a%2Fb%3Fc%23d%5Ce.gguf",
  "https://a.example/m/%2F%2Fb.example%2Fx.gguf",
  "https://a.example/m/data:+x@1%20(2).gguf",
])("a file of a host is asked for as its address says: %s", async (address) => {
  const location = locateRemoteModel(address);
  const folder = await openRemoteFolder(location, new HttpClient());
  expect(folder.request(folder.gguf ?? "").url).toBe(address);
});
