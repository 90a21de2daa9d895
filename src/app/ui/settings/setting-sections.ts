import type { SettingName } from "../../state/settings/settings.ts";

/** The sections of the settings. Each setting is in one section. */
export const SETTING_SECTIONS: readonly (readonly [title: string, names: readonly SettingName[]])[] = [
  ["Prompt", ["system", "continue_text"]],
  ["Choosing words", ["temperature", "top_p", "top_k", "min_p", "seed", "logit_bias"]],
  ["Repetition", ["repetition_penalty", "presence_penalty", "frequency_penalty", "no_repeat_ngram_size"]],
  ["Length", ["max_tokens", "stop"]],
  ["Answers", ["n", "beams", "answer_schema", "show_probabilities", "priority"]],
];

/** The useful part of a continuous setting's range. Any other value can be typed. */
export const SLIDERS: Partial<Record<SettingName, { readonly min: number; readonly max: number }>> = {
  temperature: { min: 0, max: 2 },
  top_p: { min: 0.05, max: 1 },
  min_p: { min: 0, max: 0.5 },
  repetition_penalty: { min: 0.8, max: 1.6 },
  presence_penalty: { min: -2, max: 2 },
  frequency_penalty: { min: -2, max: 2 },
};
