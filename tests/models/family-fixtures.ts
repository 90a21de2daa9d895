/** Folders of fixtures/ with a small random checkpoint each, and its golden values: one or more of each family. */
export const FAMILY_FIXTURES = [
  "gpt2-tiny",
  "llama-tiny/tied",
  "llama-tiny/untied",
  "llama-rope-scaled",
  "qwen2-tiny",
  "qwen3-tiny",
  "gemma3-tiny",
] as const;

export type FamilyFixture = (typeof FAMILY_FIXTURES)[number];
