import { expect, it } from "vitest";
import { SERVING_FIELDS } from "../../state/settings/serving-settings.ts";
import { SETTING_FIELDS } from "../../state/settings/settings.ts";
import { servingHelp, settingHelp } from "./field-help.ts";

it("each field of the forms has help: its docstring", () => {
  for (const field of SERVING_FIELDS) expect(servingHelp(field), field.name).toMatch(/^[A-Z].*\.$/);
  for (const { name } of SETTING_FIELDS) expect(settingHelp(name), name).toMatch(/^[\dA-Z].*\.$/);
  expect(settingHelp("clock")).toBe("Date, time and time zone of this machine.");
});

it("a field of an object has its own words, and an alert may be off", () => {
  const helpOf = (name: string) => servingHelp(SERVING_FIELDS.find((field) => field.name === name)!);
  expect(helpOf("speculation.minMatch")).toBe("Number of last tokens that must have occurred earlier.");
  expect(helpOf("alerts.queueLength")).toBe("Raised when more sequences than this wait. off: never.");
});
