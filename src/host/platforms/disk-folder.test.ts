import { pathToFileURL } from "node:url";

import { expect, test } from "vitest";

import { createEngine } from "../../index.ts";
import { openDiskFolder } from "./disk-folder.ts";

const FOLDER = "public/models/chorus-chat";

test.each([FOLDER, `./${FOLDER}/`, pathToFileURL(FOLDER).href])(
  "a model's folder has its files: %s",
  async (folder) => {
    const files = await openDiskFolder(folder);
    expect(files?.map((file) => file.webkitRelativePath)).toContain("chorus-chat/model.safetensors");
    expect(await openDiskFolder("owner/name")).toBeNull();
  },
);

test.each([
  ["src", /no config\.json/],
  ["package.json", /is a file/],
  [pathToFileURL("nowhere").href, /There is no folder .*nowhere/],
])("createEngine names a path without a model: %s", async (model, message) => {
  const refusal = { code: "model_not_found", param: "model", message: expect.stringMatching(message) };
  await expect(createEngine({ model })).rejects.toMatchObject(refusal);
  const speculation = { method: "draft_model", model } as const;
  await expect(createEngine({ model: FOLDER, speculation })).rejects.toMatchObject(refusal);
});

test("a string that is no folder, no model of the hub and no URL says so", async () => {
  await expect(createEngine({ model: "./nowhere" })).rejects.toThrow("no folder of this machine");
});
