import { expect, it } from "vitest";
import { keyOfChoice, labelOfChoice } from "./model-choice.ts";

it("names a model by the last part of its address, and files by their folder", () => {
  expect(labelOfChoice({ model: "models/chorus-chat/" })).toBe("chorus-chat");
  expect(labelOfChoice({ model: "owner/chorus-chat" })).toBe("chorus-chat");
  expect(labelOfChoice({ model: [new File([], "config.json")] })).toBe("your files");
});

it("knows a model again, whether its revision and hub are said or not", () => {
  const said = { model: "a/b", revision: "main", hubUrl: "https://huggingface.co" };
  expect(keyOfChoice({ model: "a/b", dtype: "q4" })).toBe(keyOfChoice(said));
  expect(keyOfChoice({ ...said, revision: "v2" })).not.toBe(keyOfChoice(said));
});
