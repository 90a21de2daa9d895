import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { expect, test } from "vitest";

import { createEngine } from "../../index.ts";
import { openDiskFolder } from "./disk-folder.ts";

const FOLDER = "public/models/chorus-chat";

test.each([FOLDER, `./${FOLDER}/`, pathToFileURL(FOLDER).href])(
  "a model's folder has its files: %s",
  async (folder) => {
    const files = await openDiskFolder(folder);
    expect(files?.map((file) => file.webkitRelativePath)).toContain(`${resolve(FOLDER)}/model.safetensors`);
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

test("a URL of file: is taken as an object, too", async () => {
  await expect(createEngine({ model: pathToFileURL("src") })).rejects.toThrow("no config.json");
});

test("a string that is no folder, no model of the hub and no URL says so", async () => {
  await expect(createEngine({ model: "./nowhere" })).rejects.toThrow("no folder of this machine");
});

test("a GGUF file is a model, by its path, or by its folder if it is alone there", async () => {
  const names = async (path: string) => (await openDiskFolder(path))?.map((file) => file.name);
  expect(await names("tests/fixtures/gguf/qwen3-q8/qwen3-q8.gguf")).toEqual(["qwen3-q8.gguf"]);
  expect(await names("tests/fixtures/gguf/qwen3-q8")).toEqual(["qwen3-q8.gguf"]);
  expect((await names("tests/fixtures/gguf/qwen3-q8-split/qwen3-q8-00002-of-00002.gguf"))?.sort()).toEqual([
    "qwen3-q8-00001-of-00002.gguf",
    "qwen3-q8-00002-of-00002.gguf",
  ]);
});
