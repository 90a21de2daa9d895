import { expect, test } from "vitest";

import { chooseGguf, ggufBaseName, partNames, quantisationOf } from "./gguf-names.ts";

test.each([
  ["SmolLM2-135M-Instruct-Q4_K_M.gguf", "Q4_K_M"],
  ["qwen3-0.6b-q8_0.gguf", "Q8_0"],
  ["sub/Model.IQ4_XS.gguf", "IQ4_XS"],
  ["Model-UD-Q4_K_XL.gguf", "UD-Q4_K_XL"],
  ["model-f16-00001-of-00002.gguf", "F16"],
  ["qwen2.5-0.5b-instruct-fp16.gguf", "FP16"],
  ["model Q4_K_M.gguf", "Q4_K_M"],
  ["model-q4_k_m-imat.gguf", "Q4_K_M"],
  ["model-Q4_K_M.imatrix.gguf", "Q4_K_M"],
  ["model-TQ1_0.gguf", "TQ1_0"],
  ["model.gguf", null],
])("%s is packed as %s", (file, quantisation) => {
  expect(quantisationOf(file)).toBe(quantisation);
});

test("a part's name gives the others'", () => {
  expect(partNames("m-00002-of-00002.gguf")).toEqual(["m-00001-of-00002.gguf", "m-00002-of-00002.gguf"]);
  expect(partNames("m.gguf")).toEqual(["m.gguf"]);
  expect(ggufBaseName("sub/m-Q8_0-00001-of-00002.gguf")).toBe("m-Q8_0");
});

const folder = (...names: readonly string[]) => new Map(names.map((name, i) => [name, { size: 1000 - i }] as const));
const choose = (names: readonly string[], requested: string | null = null) =>
  chooseGguf(folder(...names), requested, "owner/name");

test("a folder's name alone stands for Q4_K_M, else Q8_0, else the smallest of four bits or more", () => {
  const all = ["a-Q2_K.gguf", "a-Q4_K_M.gguf", "a-Q8_0.gguf", "mmproj-a-Q4_K_M.gguf", "config.json"];
  expect(choose(all)).toBe("a-Q4_K_M.gguf");
  expect(choose(all.filter((name) => !name.includes("Q4_K_M")))).toBe("a-Q8_0.gguf");
  expect(choose(["a-Q6_K.gguf", "a-F16.gguf", "a-Q5_0.gguf", "a-Q3_K_S.gguf"])).toBe("a-Q5_0.gguf");
  expect(choose([...all, "model.safetensors"])).toBeNull();
  expect(choose(["config.json"])).toBeNull();
  const low = "no GGUF file of four bits or more in owner/name; there are: Q2_K, Q3_K_S.";
  expect(() => choose(["a-Q2_K.gguf", "a-Q3_K_S.gguf"])).toThrow(low);
});

test("a file or a quantisation is named in any letter case, a split one by its first part", () => {
  const all = ["a-Q4_K_M.gguf", "b/a-Q8_0-00001-of-00002.gguf", "b/a-Q8_0-00002-of-00002.gguf", "model.safetensors"];
  expect(choose(all, "q4_k_m")).toBe("a-Q4_K_M.gguf");
  expect(choose(all, "Q8_0")).toBe("b/a-Q8_0-00001-of-00002.gguf");
  expect(choose(all, "b/a-Q8_0-00002-of-00002.gguf")).toBe("b/a-Q8_0-00001-of-00002.gguf");
  const error = { code: "model_not_found", message: expect.stringContaining("Q4_K_M, Q8_0") };
  expect(() => choose(all, "Q5_K")).toThrow(expect.objectContaining(error));
});

test("one file alone is meant, whatever its quantisation; of a split one any part, in any letter case", () => {
  expect(choose(["a-Q2_K.gguf", "config.json"])).toBe("a-Q2_K.gguf");
  expect(choose(["a-00002-of-00002.gguf"])).toBe("a-00001-of-00002.gguf");
  expect(choose(["A-Q8_0-00001-of-00002.GGUF", "A-Q8_0-00002-of-00002.GGUF"])).toBe("A-Q8_0-00001-of-00002.GGUF");
  expect(() => choose(["mmproj-a-F16.gguf"])).toThrow(
    "no GGUF file of four bits or more in owner/name; there are: none.",
  );
});

test("names that no file of a model has cost no time", () => {
  const parts = Array.from({ length: 5000 }, (_, i) => `a-${String(i + 1).padStart(5, "0")}-of-99999.gguf`);
  expect(() => choose([...parts, ...parts.map((part) => `${part}/x`)], "Q8_0")).toThrow("there are: ");
  expect(partNames("a-00001-of-99999.gguf")).toEqual(["a-00001-of-99999.gguf"]);
  expect(choose(["..\\a-Q8_0.gguf", "a-Q4_0.gguf"])).toBe("a-Q4_0.gguf");
});

test("what quantised weights were weighed by is no model, nor is a projector", () => {
  expect(choose(["a-imatrix.gguf", "imatrix.gguf", "a-Q5_K_M.gguf"])).toBe("a-Q5_K_M.gguf");
  expect(choose(["a-TQ1_0.gguf", "a-Q5_K_M.gguf"])).toBe("a-Q5_K_M.gguf");
});

test("parts keep the spelling of their names", () => {
  expect(partNames("m-00001-OF-00002.gguf")).toEqual(["m-00001-OF-00002.gguf", "m-00002-OF-00002.gguf"]);
});
