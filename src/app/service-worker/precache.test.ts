import { expect, it } from "vitest";
import { entryFor, keyOf } from "./precache.ts";

const scope = "https://host.example/some/where/";
const page = { path: "", sha256: "aa", isImmutable: false };
const model = { path: "models/a model/model.safetensors", sha256: "bb", isImmutable: false };
const entries = [page, model];

it("finds the page under its folder's address and its own, with any query", () => {
  expect(entryFor(entries, scope, scope)).toBe(page);
  expect(entryFor(entries, `${scope}?temperature=0#bench`, scope)).toBe(page);
  expect(entryFor(entries, `${scope}index.html`, scope)).toBe(page);
});

it("finds a file by its path in the folder, and nothing that is elsewhere", () => {
  expect(entryFor(entries, `${scope}models/a%20model/model.safetensors`, scope)).toBe(model);
  expect(entryFor(entries, "https://host.example/models/a%20model/model.safetensors", scope)).toBeUndefined();
  expect(entryFor(entries, "https://other.example/some/where/", scope)).toBeUndefined();
  expect(entryFor(entries, `${scope}lib/chorus.js`, scope)).toBeUndefined();
  expect(entryFor(entries, `${scope}100%`, scope)).toBeUndefined();
});

it("keeps a file under another key once its contents change", () => {
  expect(keyOf(model, scope)).not.toBe(keyOf({ ...model, sha256: "cc" }, scope));
  expect(keyOf(model, scope).startsWith(`${scope}models/a%20model/`)).toBe(true);
});
