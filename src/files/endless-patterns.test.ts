import { expect, test } from "vitest";
import { refuseEndlessPatterns, repeatsWhatVaries } from "./endless-patterns.ts";

test.each([
  String.raw`'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`,
  String.raw`(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`,
  String.raw`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t)?|\p{N}{1,3}`,
  String.raw`[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_{|}~][A-Za-z]+| ?[\p{P}\p{S}]+[\r\n]*`,
  String.raw`(?:\d{3})+(?=\D)`,
  String.raw`\(+a|\)*`,
])("%s, which models have, is taken", (pattern) => {
  expect(repeatsWhatVaries(pattern)).toBe(false);
});

test.each(["(a+)+$", "(a|a)*b", "((a?)b?)*c", "(?:x*y?){2,}", "(?<n>a{1,2}){20}", "((ab)+)+", String.raw`(\p{L}+)*!`])(
  "%s is refused",
  (pattern) => {
    expect(repeatsWhatVaries(pattern)).toBe(true);
    const step = { type: "Sequence", pretokenizers: [{ type: "Split", pattern: { Regex: pattern } }] };
    expect(() => refuseEndlessPatterns(step, "tokenizer.json")).toThrow("can take for ever");
  },
);
