import { describe, expect, test } from "vitest";
import { locateModel, locateRemoteModel, type HubOptions } from "./model-source.ts";

const BASE = "https://page.example/app/index.html";

describe("a model is", () => {
  test.each([
    ["openai-community/gpt2", "openai-community/gpt2"],
    ["Qwen/Qwen2.5-0.5B", "Qwen/Qwen2.5-0.5B"],
  ])("of the hub: %s", (model, id) => {
    expect(locateModel(model, {}, BASE)).toEqual({
      type: "hub",
      id,
      revision: "main",
      hubUrl: "https://huggingface.co",
      token: null,
    });
  });

  test.each([
    ["models/tiny/", "https://page.example/app/models/tiny/"],
    ["./models/tiny", "https://page.example/app/models/tiny/"],
    ["../models/tiny", "https://page.example/models/tiny/"],
    ["/models/tiny", "https://page.example/models/tiny/"],
    ["tiny", "https://page.example/app/tiny/"],
    ["a/b/c", "https://page.example/app/a/b/c/"],
    ["models/tiny?token=1", "https://page.example/app/models/tiny/?token=1"],
    ["https://a.example/models/tiny", "https://a.example/models/tiny/"],
    ["https://a.example", "https://a.example/"],
  ])("a folder: %s", (model, url) => {
    expect(locateModel(model, {}, BASE)).toEqual({ type: "folder", url });
  });

  test("files", () => {
    const files = [new File([], "config.json")];
    expect(locateModel(files)).toEqual({ type: "files", files });
    expect(() => locateRemoteModel(files as unknown as string)).toThrow(/hub id/);
  });

  test("of a mirror, at a revision, with a token", () => {
    const hub = { revision: "refs/pr/4", token: "secret", hubUrl: "https://mirror.example/hub/" };
    expect(locateModel("a/b", hub)).toEqual({
      type: "hub",
      id: "a/b",
      revision: "refs/pr/4",
      token: "secret",
      hubUrl: "https://mirror.example/hub",
    });
  });
});

test.each<[string, HubOptions]>([
  ["revision", { revision: "" }],
  ["revision", { revision: "a?b" }],
  ["revision", { revision: "../x" }],
  ["token", { token: "a\nb" }],
  ["token", { token: "" }],
  ["hubUrl", { hubUrl: "mirror" }],
  ["hubUrl", { hubUrl: "file:///x" }],
])("a bad %s is refused by name: %j", (param, hub) => {
  expect(() => locateModel("a/b", hub)).toThrow(expect.objectContaining({ code: "invalid_value", param }));
});

test("a source that is no URL is refused", () => {
  const refusal = expect.objectContaining({ code: "invalid_value", param: "model" });
  expect(() => locateModel("http://", {}, BASE)).toThrow(refusal);
  expect(() => locateModel("", {}, BASE)).toThrow(refusal);
  expect(() => locateModel("tiny")).toThrow(refusal);
});
