import { expect, it } from "vitest";

import { findSections, type Section } from "./find-sections.js";

const section = (href: string, heading: string, text: string): Section => ({ href, title: "Page", heading, text });
const sections = [
  section("text", "Other", "a cache, and a cache again, cache, cache, cache, cache"),
  section("heading", "The cache", "blocks"),
  section("inside", "Names", "kv_cache_usage_perc, recache"),
  section("none", "Nothing", "of it"),
];
const found = (query: string) => findSections(sections, query).map(({ href }) => href);

it("puts what has the word as a heading first, and finds it within names", () => {
  expect(found("cache")).toEqual(["heading", "text", "inside"]);
  expect(found("CACHE")).toEqual(found("cache"));
});

it("wants all words, and nothing of an empty query", () => {
  expect(found("cache blocks")).toEqual(["heading"]);
  expect(found("cache nowhere")).toEqual([]);
  expect(found("  ")).toEqual([]);
});

it("takes marks for what they are", () => {
  expect(found("a.*")).toEqual([]);
  expect(found("cache,")).toEqual(["text"]);
});
