// Samples as the kernels read them, for tests that run one kernel.

import step from "../../shaders/lib/step.wgsl?raw";

const FIELDS = [...(/struct Sample {([^}]*)}/.exec(step)?.[1] ?? "").matchAll(/(\w+): (u32|f32)/g)].map(
  ([, name = "", type = ""]) => ({ name, type }),
);

/** Parameters without effect, except the given ones. */
const NEUTRAL = { temperature: 1, top_p: 1, typical_p: 1, repetition_penalty: 1 };

/** One sample a record, by the field names of shaders/lib/step.wgsl; sample i is of row and slot i. */
export function packSamples(samples: readonly Readonly<Record<string, number>>[]): Uint32Array<ArrayBuffer> {
  const words = new Uint32Array(samples.length * FIELDS.length);
  const floats = new Float32Array(words.buffer);
  samples.forEach((sample, i) => {
    const values: Record<string, number> = { ...NEUTRAL, row: i, slot: i, ...sample };
    const unknown = Object.keys(values).find((name) => !FIELDS.some((field) => field.name === name));
    if (unknown !== undefined) throw new Error(`Sample has no field ${unknown}`);
    FIELDS.forEach(({ name, type }, at) => {
      const target = type === "f32" ? floats : words;
      target[i * FIELDS.length + at] = values[name] ?? 0;
    });
  });
  return words;
}
