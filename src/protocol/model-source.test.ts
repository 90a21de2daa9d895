import { describe, expect, test } from "vitest";
import {
  isHubId,
  locateModel,
  locateRemoteModel,
  nameOfModel,
  withAbsoluteDraft,
  type HubOptions,
} from "./model-source.ts";

const HUB = "https://huggingface.co";
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

  test.each([
    ["owner/name:Q4_K_M", "Q4_K_M"],
    ["owner/name:q4_k_m", "Q4_K_M"],
    ["hf.co/owner/name:Q4_K_M", "Q4_K_M"],
    ["https://huggingface.co/owner/name:q8_0", "Q8_0"],
    ["owner/name/x-Q6_K.gguf", "x-Q6_K.gguf"],
    ["owner/name/deep/x.GGUF", "deep/x.GGUF"],
    ["https://huggingface.co/owner/name/blob/main/x.gguf", "x.gguf"],
    ["huggingface.co/owner/name/resolve/main/deep/x%20y.gguf?download=true", "deep/x y.gguf"],
  ])("a GGUF file of the hub: %s", (model, gguf) => {
    const location = { type: "hub", id: "owner/name", revision: "main", hubUrl: HUB, token: null, gguf } as const;
    expect(locateModel(model, {}, BASE)).toEqual(location);
    expect(isHubId(model)).toBe(true);
    expect(locateModel(nameOfModel(location), {}, BASE)).toEqual(location);
  });

  test.each([
    ["models/x.gguf", "https://page.example/app/models/", "x.gguf"],
    ["./a/b/x.gguf?key=1", "https://page.example/app/a/b/?key=1", "x.gguf"],
    ["../a/b/x.gguf", "https://page.example/a/b/", "x.gguf"],
    ["https://a.example/x%20y.gguf", "https://a.example/", "x y.gguf"],
    ["https://a.example/50%25%20%2F%3F.gguf?a=/b", "https://a.example/?a=/b", "50% /?.gguf"],
  ])("a GGUF file of a host: %s", (model, url, gguf) => {
    const location = { type: "folder", url, gguf } as const;
    expect(locateModel(model, {}, BASE)).toEqual(location);
    expect(isHubId(model)).toBe(false);
    expect(locateModel(nameOfModel(location), {}, BASE)).toEqual(location);
  });

  test.each(["owner/name/mmproj-x.gguf", "models/mmproj-x.gguf"])("not what goes with one: %s", (model) => {
    const refusal = { code: "invalid_value", param: "model", message: expect.stringContaining("no model") };
    expect(() => locateModel(model, {}, BASE)).toThrow(expect.objectContaining(refusal));
  });

  test.each(["C:\\models\\x", "C:/models/x", "javascript:x", "data:,x"])("no address without folders: %s", (model) => {
    const refusal = { code: "invalid_value", param: "model", message: expect.stringContaining("is none of these") };
    expect(() => locateModel(model, {}, BASE)).toThrow(expect.objectContaining(refusal));
  });

  test("files", () => {
    const files = [new File([], "config.json")];
    expect(locateModel(files[0])).toEqual({ type: "files", files });
    expect(locateModel(files)).toEqual({ type: "files", files });
    expect(() => locateRemoteModel(files as unknown as string)).toThrow(/hub id/);
  });

  test.each([
    [`${HUB}/a/b`, "main"],
    [`${HUB}/a/b/?library=transformers`, "main"],
    ["huggingface.co/a/b", "main"],
    ["www.huggingface.co/a/b/", "main"],
    ["http://hf.co/a/b#usage", "main"],
    [`  ${HUB}/a/b `, "main"],
    ["  a/b\n", "main"],
    ["//huggingface.co/a/b", "main"],
    [`${HUB}/a/b/discussions/3`, "main"],
    [`${HUB}/a/b/tree/v1.0`, "v1.0"],
    [`${HUB}/a/b/tree/v1.0/`, "v1.0"],
    [`${HUB}/a/b/tree/refs%2Fpr%2F4`, "refs/pr/4"],
    [`${HUB}/a/b/tree/refs/pr/4`, "refs/pr/4"],
    [`${HUB}/a/b/resolve/main/model.safetensors?download=true`, "main"],
    ["huggingface.co/a/b/blob/0123abc/config.json", "0123abc"],
    [`${HUB}/a/b/raw/v2/config.json`, "v2"],
    [`${HUB}/a/b/blob/v2/LICENSE`, "v2"],
    [`${HUB}/a/b/commit/0123abc`, "0123abc"],
  ])("of the hub by its address there: %s", (address, revision) => {
    const there = { type: "hub", id: "a/b", revision, hubUrl: HUB, token: null };
    expect(locateModel(address, {}, BASE)).toEqual(there);
    expect(locateModel(address, { revision }, BASE)).toEqual(there);
    expect(isHubId(address)).toBe(true);
  });

  test.each([
    [`${HUB}/a/b/resolve/main/`, `${HUB}/a/b/resolve/main/`],
    [`${HUB}/a/b/resolve/main`, `${HUB}/a/b/resolve/main/`],
    [`${HUB}/a/b/resolve/v1.0/onnx/`, `${HUB}/a/b/resolve/v1.0/onnx/`],
    [`${HUB}/a/b/resolve/v1.0/onnx`, `${HUB}/a/b/resolve/v1.0/onnx/`],
    [`${HUB}/a/b/resolve/refs%2Fpr%2F4/onnx/`, `${HUB}/a/b/resolve/refs%2Fpr%2F4/onnx/`],
  ])("a folder, where the hub serves its files: %s", (model, url) => {
    expect(locateModel(model, {}, BASE)).toEqual({ type: "folder", url });
    expect(locateModel(model, { hubUrl: HUB }, BASE)).toEqual({ type: "folder", url });
    expect(isHubId(model)).toBe(false);
  });

  test.each(["files/gpt2/", "models/gpt2/", "models/gpt2", "gpt2", "files/gpt2/v2", "files/gpt2/?key=1"])(
    "a folder beside a mirror's models: %s",
    (path) => {
      const url = `https://example.com/${path}`;
      const folder = locateModel(url, {}, BASE);
      expect(folder.type).toBe("folder");
      expect(locateModel(url, { hubUrl: "https://example.com" }, BASE)).toEqual(folder);
    },
  );

  test("of a mirror by its address there, or by the hub's own", () => {
    const hubUrl = "https://mirror.example/hub";
    const there = { type: "hub", id: "a/b", revision: "v1", hubUrl, token: null };
    expect(locateModel(`${hubUrl}/a/b/tree/v1`, { hubUrl: `${hubUrl}/` }, BASE)).toEqual(there);
    expect(locateModel(`${HUB}/a/b/tree/v1`, { hubUrl }, BASE)).toEqual(there);
    expect(locateModel(`${hubUrl}/a/b`, {}, BASE)).toEqual({ type: "folder", url: `${hubUrl}/a/b/` });
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

test("an address of the hub and another revision beside it are refused", () => {
  const refusal = expect.objectContaining({ code: "invalid_value", param: "revision" });
  const address = "https://huggingface.co/a/b/tree/v1";
  expect(() => locateModel(address, { revision: "v2" })).toThrow(refusal);
  expect(() => locateModel("https://huggingface.co/a/b/tree/x%20y")).toThrow(refusal);
});

test.each([
  "https://huggingface.co",
  "huggingface.co/gpt2",
  "https://huggingface.co/datasets/a/b",
  "https://huggingface.co/spaces/a/b",
  "https://huggingface.co/models/a",
])("an address of the hub that is no model's is refused: %s", (address) => {
  const refusal = { code: "invalid_value", param: "model", message: expect.stringContaining("owner/name") };
  expect(() => locateModel(address, {}, BASE)).toThrow(expect.objectContaining(refusal));
});

test.each([
  ["tree/main/onnx", "resolve/main/onnx/"],
  ["tree/feature/x", "resolve/feature/x/"],
  ["tree/refs/pr/4/a%20b/c", "resolve/refs%2Fpr%2F4/a%20b/c/"],
  ["blob/v1.0/onnx/model.onnx", "resolve/v1.0/onnx/"],
  ["resolve/main/onnx/model.onnx?download=true", "resolve/main/onnx/"],
])("an address of a folder inside a model's repository is refused, and the folder's URL named: %s", (path, url) => {
  for (const hubUrl of ["https://huggingface.co", "https://mirror.example/hub"]) {
    const address = `${hubUrl}/a/b/${path}`;
    const message = expect.stringMatching(/"owner\/name".* revision/) as string;
    expect(() => locateModel(address, { hubUrl })).toThrow(
      expect.objectContaining({ code: "invalid_value", param: "model", message }),
    );
    expect(() => locateModel(address, { hubUrl })).toThrow(`"${hubUrl}/a/b/${url}"`);
  }
});

test.each([
  "huggingface.co/a/b/resolve/main/onnx/",
  "hf.co/a/b/resolve/main/onnx",
  "https://hf.co/a/b/tree/main/onnx/",
])("a folder's address on the hub that is no URL of its files is refused: %s", (address) => {
  const url = '"https://huggingface.co/a/b/resolve/main/onnx/"';
  expect(() => locateModel(address, {}, BASE)).toThrow(url);
});

test("a draft model's address of the hub stays, whatever the page's", () => {
  const model = "huggingface.co/a/b/tree/v1";
  const config = { speculation: { method: "draft_model", model } } as const;
  expect(withAbsoluteDraft(config, BASE)).toEqual(config);
});

test("a source that is no URL is refused", () => {
  const refusal = expect.objectContaining({ code: "invalid_value", param: "model" });
  expect(() => locateModel("http://", {}, BASE)).toThrow(refusal);
  expect(() => locateModel("", {}, BASE)).toThrow(refusal);
  expect(() => locateModel("tiny")).toThrow(refusal);
});
