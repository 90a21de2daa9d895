import { expect, it } from "vitest";

import type { LogLevel } from "../protocol/config.ts";
import { Logger } from "./logger.ts";

function linesAt(level: LogLevel): string[] {
  const lines: string[] = [];
  const write = (name: string) => (text: string) => void lines.push(`${name} ${text}`);
  const target = { error: write("error"), warn: write("warn"), info: write("info"), debug: write("debug") };
  const logger = new Logger(level, target);
  for (const name of ["error", "warn", "info", "debug"] as const) logger.write(name, () => `about ${name}`);
  return lines;
}

it("writes messages of its level or more severe, and nothing when silent", () => {
  const all = ["error", "warn", "info", "debug"].map((name) => `${name} chorus: about ${name}`);
  expect(linesAt("silent")).toEqual([]);
  expect(linesAt("error")).toEqual(all.slice(0, 1));
  expect(linesAt("warn")).toEqual(all.slice(0, 2));
  expect(linesAt("info")).toEqual(all.slice(0, 3));
  expect(linesAt("debug")).toEqual(all);
});

it("does not build a message that it does not write", () => {
  const logger = new Logger("info");
  logger.write("debug", () => {
    throw new Error("made for nothing");
  });
  expect(() =>
    logger.write("info", () => {
      throw new Error("made");
    }),
  ).toThrow("made");
});
