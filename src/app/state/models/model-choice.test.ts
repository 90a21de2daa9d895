import { expect, it } from "vitest";
import { choiceInAddress, keyOfChoice, labelOfChoice } from "./model-choice.ts";

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

it.each(["https://huggingface.co/a/b/tree/v2", "hf.co/a/b/tree/v2"])(
  "knows the model of the page's address again, as people copy that: %s",
  (address) => {
    const choice = choiceInAddress(address);
    expect(labelOfChoice(choice)).toBe("b");
    expect(keyOfChoice(choice)).toBe(keyOfChoice({ model: "a/b", revision: "v2" }));
  },
);

it.each(["models/x/", "owner/mmproj-x/mmproj-x.gguf"])(
  "leaves a folder, and what is no model, as it is: %s",
  (model) => {
    expect(choiceInAddress(model)).toEqual({ model });
  },
);
