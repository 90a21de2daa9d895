import { expect, it } from "vitest";
import { PRESETS, presetOf, withPreset } from "./presets.ts";
import { checkSettings } from "./settings.ts";

it("each preset is made of settings that are allowed, and is known again by its values", () => {
  for (const preset of PRESETS) {
    expect(checkSettings(preset.settings)).toEqual(preset.settings);
    expect(presetOf(preset.settings)).toBe(preset);
  }
  expect(presetOf({})).toBeNull();
});

it("a preset takes the place of another and leaves what is not about drawing", () => {
  const [precise, , creative] = PRESETS;
  const settings = withPreset({ seed: 4, system: "S", top_k: 7 }, creative!);
  expect(settings).toEqual({ seed: 4, system: "S", ...creative!.settings });
  expect(withPreset(settings, precise!)).toEqual({ seed: 4, system: "S", ...precise!.settings });
  expect(presetOf({ ...creative!.settings, top_k: 3 })).toBeNull();
});
