import { expect, test } from "vitest";
import { refuseUnsupported, UNSUPPORTED_FIELDS } from "./unsupported-fields.ts";
import { Fields } from "./validate.ts";

const refuse = (body: object) => refuseUnsupported(new Fields(body));

test("values that change nothing are accepted", () => {
  refuse({
    echo: false,
    suffix: "",
    modalities: ["text"],
    skip_special_tokens: true,
  });
});

test.each(UNSUPPORTED_FIELDS)("%s is refused by name with a value that would change something", (name) => {
  for (const value of [17, { type: "json_object" }, ["x"], [0], { a: 1 }]) {
    expect(() => refuse({ [name]: value })).toThrow(
      expect.objectContaining({ code: "unsupported_parameter", param: name, message: expect.stringContaining(name) }),
    );
  }
});

test.each(["json", "choice", "regex", "grammar"])("guided_%s names what took its place", (kind) => {
  expect(() => refuse({ [`guided_${kind}`]: ["x"] })).toThrow(`structured_outputs: { ${kind}: ... }`);
});

test("the refusal says what could be given instead", () => {
  expect(() => refuse({ service_tier: "flex" })).toThrow(
    'The field service_tier is not supported yet, and "flex" would change the answer. Leave it out (or give "auto" or "default").',
  );
});
