import { expect, it } from "vitest";
import { SETTING_FIELDS } from "../app/state/settings/settings.ts";
import { schemaProblem } from "./compile.ts";

it.each([
  [{ type: "object", properties: { age: { type: "integer" }, name: {} } }, null],
  [{ type: "array", items: { type: "array", uniqueItems: true } }, "schema.items.uniqueItems is not supported: "],
  [{ type: "text" }, "schema.type must be one of object, array, "],
  [{ type: "string", pattern: "(?<=a)b" }, "schema.pattern"],
  [{ enum: [] }, "schema.enum must be a list that is not empty."],
  [{ type: "string", minLength: 3, maxLength: 2 }, "schema describes nothing: there is no text that it allows."],
])("%j: %s", (schema, problem) => {
  if (problem === null) expect(schemaProblem(schema)).toBeNull();
  else expect(schemaProblem(schema)).toContain(problem);
});

it("finds nothing wrong with the settings' own example", () => {
  expect(schemaProblem(SETTING_FIELDS.find(({ name }) => name === "answer_schema")?.example)).toBeNull();
});
