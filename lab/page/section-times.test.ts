import { expect, it } from "vitest";

import { readBenchOptions } from "./bench-options.ts";
import { formatDuration, SectionTimes } from "./section-times.ts";

const optionsOf = (query: string) => readBenchOptions(new URLSearchParams(query));

function home(kept: string | null = null) {
  const store = { text: kept };
  return { store, read: () => store.text, write: (text: string) => void (store.text = text) };
}

it("knows what sections usually take, and less for a quick run", () => {
  const times = new SectionTimes(home());
  const [all, quick] = [times.secondsFor(optionsOf("")), times.secondsFor(optionsOf("quick"))];
  expect(quick).toBeLessThan(all / 2);
  expect(times.areKnown(optionsOf("quick"))).toBe(false);
  expect(times.secondsFor(optionsOf("sections=decode,modes"))).toBe(
    times.secondsOf("decode", optionsOf("")) + times.secondsOf("modes", optionsOf("")),
  );
});

it("knows what they took here with the same options, also on the next visit", () => {
  const place = home();
  const options = optionsOf("quick&sections=decode,modes");
  new SectionTimes(place).remember(options, [
    { id: "decode", seconds: 3.5 },
    { id: "modes", seconds: 7 },
  ]);
  const next = new SectionTimes(place);
  expect(next.secondsFor(options)).toBe(10.5);
  expect(next.areKnown(options)).toBe(true);
  expect(next.areKnown(optionsOf("quick&sections=decode,drafts"))).toBe(false);
  expect(next.secondsOf("decode", optionsOf("sections=decode"))).not.toBe(3.5);
});

it.each(["{", "null", "[]", '"text"'])("is not led astray by what else is kept under its name: %s", (kept) => {
  expect(new SectionTimes(home(kept)).secondsFor(optionsOf("quick"))).toBeGreaterThan(0);
});

it("says durations as roughly as they are known", () => {
  expect([2, 12, 54, 58, 89, 95, 1500].map(formatDuration)).toEqual([
    "5 s",
    "10 s",
    "55 s",
    "1 min",
    "1 min",
    "2 min",
    "25 min",
  ]);
});
