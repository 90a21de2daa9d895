import { expect, test } from "vitest";

import packageJson from "../package.json" with { type: "json" };
import { VERSION } from "./version.ts";

test("the library's version is package.json's", () => {
  expect(VERSION).toBe(packageJson.version);
});
