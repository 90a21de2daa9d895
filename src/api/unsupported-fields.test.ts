import { expect, test } from "vitest";
import { refuseUnsupported, UNSUPPORTED_FIELDS } from "./unsupported-fields.ts";
import { Fields } from "./validate.ts";

const refuse = (body: object) => refuseUnsupported(new Fields(body));

test("values that change nothing are accepted", () => {
  refuse({
    presence_penalty: 0,
    frequency_penalty: -0,
    repetition_penalty: 1.0,
    min_p: 0,
    best_of: 1,
    echo: false,
    suffix: "",
    logit_bias: {},
    tools: [],
    tool_choice: "auto",
    response_format: { type: "text" },
    modalities: ["text"],
    metadata: {},
    top_logprobs: 0,
    min_tokens: 0,
    skip_special_tokens: true,
    prompt_logprobs: null,
    structured_outputs: undefined,
  });
});

test.each(UNSUPPORTED_FIELDS)("%s is refused by name with a value that would change something", (name) => {
  for (const value of [17, { type: "json_object" }, ["x"], [0], { a: 1 }]) {
    expect(() => refuse({ [name]: value })).toThrow(
      expect.objectContaining({ code: "unsupported_parameter", param: name, message: expect.stringContaining(name) }),
    );
  }
});

test("the refusal says what could be given instead", () => {
  expect(() => refuse({ min_p: 0.1 })).toThrow(
    "min_p is not supported yet, and 0.1 would change the answer. Leave it out (or give 0).",
  );
});
