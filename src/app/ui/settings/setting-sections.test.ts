import { expect, it } from "vitest";
import { SETTING_FIELDS } from "../../state/settings/settings.ts";
import { SETTING_SECTIONS, SLIDERS } from "./setting-sections.ts";

const inSections = SETTING_SECTIONS.flatMap(([, names]) => names);

it("every setting is in one section", () => {
  expect(inSections.toSorted()).toEqual(SETTING_FIELDS.map(({ name }) => name).toSorted());
});

it("a slider stays within its setting's range", () => {
  for (const [name, { min, max }] of Object.entries(SLIDERS)) {
    const field = SETTING_FIELDS.find((one) => one.name === name);
    expect(field).toMatchObject({ kind: "number" });
    if (field?.kind !== "number") continue;
    expect(min, name).toBeGreaterThanOrEqual(field.min);
    expect(max, name).toBeLessThanOrEqual(field.max);
  }
});
