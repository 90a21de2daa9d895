import { expect, it } from "vitest";
import { SETTING_FIELDS } from "../app/state/settings/settings.ts";
import { schemaProblem } from "./schema-problem.ts";

it.each([
  [{ type: "object", properties: { age: { type: "integer" }, name: {} } }, null],
  [
    { type: "object", properties: { age: { not: {} } } },
    "schema.properties.age.not is not supported: the supported keywords",
  ],
  [{ type: "array", items: { type: "number", multipleOf: 3 } }, "schema.items.multipleOf is not supported: "],
  [{ type: "text" }, "schema.type must be one of object, array, "],
  [{ type: "string", pattern: "(?=a)b" }, "schema.pattern"],
  [{ enum: [] }, "schema.enum must be a list that is not empty."],
  [{ type: "string", minLength: 3, maxLength: 2 }, "schema describes nothing that can be written here."],
])("%j: %s", (schema, problem) => {
  if (problem === null) expect(schemaProblem(schema)).toBeNull();
  else expect(schemaProblem(schema)).toContain(problem);
});

it("names each keyword that can be held to once", () => {
  const [, list = ""] = schemaProblem({ not: {} })?.split("the supported keywords are ") ?? [];
  const keywords = list.replace(".", "").split(", ");
  expect(keywords).toContain("exclusiveMaximum");
  expect(new Set(keywords).size).toBe(keywords.length);
});

it("finds nothing wrong with the settings' own example", () => {
  const field = SETTING_FIELDS.find(({ kind }) => kind === "json");
  expect(field?.kind === "json" && schemaProblem(JSON.parse(field.example))).toBeNull();
});
