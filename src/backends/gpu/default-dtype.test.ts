import { expect, test } from "vitest";
import { describeModel } from "../../models/families.ts";
import { defaultDtype } from "./default-dtype.ts";

const SMALL = describeModel({ model_type: "gpt2" });
const MEDIUM = describeModel({ model_type: "gpt2", n_embd: 1024, n_layer: 24, n_head: 16 });

test.each([
  { model: SMALL, isSoftware: false, hasHalves: true, dtype: "f16" },
  { model: SMALL, isSoftware: false, hasHalves: false, dtype: "f16" },
  { model: SMALL, isSoftware: true, hasHalves: true, dtype: "f16" },
  { model: SMALL, isSoftware: true, hasHalves: false, dtype: "f32" },
  { model: MEDIUM, isSoftware: true, hasHalves: false, dtype: "f16" },
])(
  "$model.shape.numLayers layers, software: $isSoftware, with halves: $hasHalves: $dtype",
  ({ model, isSoftware, hasHalves, dtype }) => {
    expect(defaultDtype(model, { isSoftware, hasHalves })).toBe(dtype);
  },
);
