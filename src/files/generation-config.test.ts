import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { loadGenerationDefaults, parseGenerationConfig } from "./generation-config.ts";
import { openFileList } from "./model-files.ts";

test("reads the embedded model's file", async () => {
  const text = readFileSync("public/models/chorus-chat/generation_config.json", "utf8");
  const files = openFileList([new File([text], "generation_config.json")]);
  expect(await loadGenerationDefaults(files, [7])).toEqual({
    temperature: 0.6,
    topK: 30,
    topP: 0.9,
    minP: 0,
    typicalP: 1,
    repetitionPenalty: 1,
    noRepeatNgramSize: 0,
    eosTokenIds: [0],
  });
});

test("without the file nothing is filtered, and config.json's end-of-text ids count", async () => {
  expect(await loadGenerationDefaults(openFileList([]), [7])).toEqual({
    temperature: 1,
    topK: 0,
    topP: 1,
    minP: 0,
    typicalP: 1,
    repetitionPenalty: 1,
    noRepeatNgramSize: 0,
    eosTokenIds: [7],
  });
});

test("do_sample: false is greedy, several end-of-text ids are kept, null is absent, top_k 0 is all", () => {
  const json = { do_sample: false, temperature: 0.8, eos_token_id: [1, 2], top_p: null, top_k: 0 };
  expect(parseGenerationConfig(json, [])).toMatchObject({ temperature: 0, topP: 1, topK: 0, eosTokenIds: [1, 2] });
  expect(parseGenerationConfig({ eos_token_id: null }, [9]).eosTokenIds).toEqual([9]);
});

test.each([
  [{ temperature: -1 }, "temperature"],
  [{ top_k: 2.5 }, "top_k"],
  [{ top_k: -3 }, "top_k"],
  [{ top_p: 0 }, "top_p"],
  [{ top_p: 1.5 }, "top_p"],
  [{ do_sample: "yes" }, "do_sample"],
  [[], "generation_config.json"],
])("%j is refused by name", (json, part) => {
  expect(() => parseGenerationConfig(json, [])).toThrow(
    expect.objectContaining({ code: "model_invalid", message: expect.stringContaining(part) }),
  );
});
