import { expect, it } from "vitest";

import { formatDuration, measureOptions, readBenchOptions, SECTION_IDS } from "./bench-options.ts";

const read = (query: string) => readBenchOptions(new URLSearchParams(query));

it("without anything: all sections of the embedded model, up to 64 at once", () => {
  expect(read("")).toMatchObject({ sections: SECTION_IDS, model: "embedded", repeats: 5, quick: false });
  expect(read("").sequences).toEqual([1, 2, 4, 8, 16, 32, 64]);
});

it("takes what the address says, also over what quick means", () => {
  expect(
    read(
      "quick&sections=modes,decode&model=small&draft=tiny&backend=cpu&dtype=q8&sequences=8,2&outputTokens=5&repeats=1",
    ),
  ).toEqual({
    sections: ["decode", "modes"],
    model: "small",
    draft: "tiny",
    backend: "cpu",
    dtype: "q8",
    sequences: [2, 8],
    promptTokens: 16,
    outputTokens: 5,
    repeats: 1,
    seed: 0,
    quick: true,
  });
});

it("measures one number with the address's model, whatever else it names", () => {
  const options = measureOptions(read("model=small&backend=cpu&sections=drafts,modes&sequences=2"));
  expect(options).toMatchObject({ model: "small", backend: "cpu", sections: ["decode"], sequences: [1, 16] });
});

it("leaves at its default what makes no sense", () => {
  const nonsense = "sections=x&sequences=0,a&dtype=f8&repeats=-1&promptTokens=1.5&seed=x&model=";
  expect(read(nonsense)).toEqual(read(""));
});

it("says durations as roughly as they are known", () => {
  const words = ["5 s", "10 s", "55 s", "1 min", "1 min", "2 min", "25 min"];
  expect([2, 12, 54, 58, 89, 95, 1500].map(formatDuration)).toEqual(words);
});
