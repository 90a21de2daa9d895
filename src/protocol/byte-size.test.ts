import { expect, test } from "vitest";

import { byteSize } from "./byte-size.ts";

test.each([
  [0, "0 bytes"],
  [999, "999 bytes"],
  [1000, "1.0 kB"],
  [67_108_864, "67.1 MB"],
  [269_060_552, "269 MB"],
  [16_499_343_360, "16.5 GB"],
  [1_649_934_336_000, "1,650 GB"],
])("%d bytes are %s", (bytes, words) => expect(byteSize(bytes)).toBe(words));
