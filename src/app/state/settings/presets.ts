// Sampling settings that go well together, for people who don't want to set each value. Plain data.

import { SETTING_FIELDS, without, type Settings } from "./settings.ts";

interface Preset {
  readonly name: string;
  readonly help: string;
  readonly settings: Settings;
}

/** The settings that presets change. A preset sets those it names and resets the others. */
const OF_PRESETS = SETTING_FIELDS.filter((field) => field.inPresets).map(({ name }) => name);

export const PRESETS: readonly Preset[] = [
  {
    name: "Precise",
    help: "Always the likeliest word: facts, sums, the same answer each time",
    settings: { temperature: 0, repetition_penalty: 1.05 },
  },
  {
    name: "Balanced",
    help: "Some freedom among the likelier words: most conversations",
    settings: { temperature: 0.7, top_p: 0.95, top_k: 40 },
  },
  {
    name: "Creative",
    help: "Rare words too, and fewer repetitions: stories, poems, ideas",
    settings: { temperature: 1.1, top_p: 1, top_k: 0, min_p: 0.05, presence_penalty: 0.4 },
  },
];

export function withPreset(settings: Settings, preset: Preset): Settings {
  return { ...without(settings, OF_PRESETS), ...preset.settings };
}

/** Returns the preset that matches these values exactly, or null. */
export function presetOf(settings: Settings): Preset | null {
  const isAsIn = (preset: Preset) => OF_PRESETS.every((name) => settings[name] === preset.settings[name]);
  return PRESETS.find(isAsIn) ?? null;
}
