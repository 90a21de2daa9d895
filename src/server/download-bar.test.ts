import { expect, it } from "vitest";

import { downloadBar } from "./download-bar.ts";

function open() {
  let printed = "";
  let nowMs = 0;
  const bar = downloadBar(
    "a/b",
    (text) => (printed += text),
    () => nowMs,
  );
  return { bar, printed: () => printed, wait: (ms: number) => (nowMs += ms) };
}

it("is one line that grows, five times a second at most", () => {
  const { bar, printed, wait } = open();
  bar.show(0, 8e6);
  wait(100);
  bar.show(1e6, 8e6);
  wait(900);
  bar.show(2e6, 8e6);
  wait(1000);
  bar.show(8e6, 8e6);
  bar.end();
  expect(printed().split("\r")).toEqual([
    "",
    "a/b [                        ] 0% of 8 MB, 0.0 MB/s",
    "a/b [======                  ] 25% of 8 MB, 2.0 MB/s",
    "a/b [========================] 100% of 8 MB, 4.0 MB/s\n",
  ]);
});

it("says nothing of what is there already", () => {
  const { bar, printed } = open();
  bar.show(8, 8);
  bar.end();
  expect(printed()).toBe("");
});
