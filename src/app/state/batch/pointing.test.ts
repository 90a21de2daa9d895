import { expect, it } from "vitest";
import { Pointing } from "./pointing.ts";

it("tells what is pointed at once, and ends it only for the part that pointed", () => {
  const pointing = new Pointing();
  const received: (string | null)[] = [];
  pointing.store.subscribe((pointed) => received.push(pointed?.by ?? null));
  const at = { requestName: "a", index: 0, from: 3, to: 4 };
  pointing.point({ ...at, by: "words" });
  pointing.point({ ...at, by: "words" });
  pointing.leave("map");
  pointing.point({ ...at, by: "timeline" });
  pointing.leave("words");
  pointing.leave("timeline");
  pointing.leave("timeline");
  expect(received).toEqual(["words", "timeline", null]);
});
