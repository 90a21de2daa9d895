// An answer to a lenient schema names what was left out of it, whole and streamed; without `lenient` it is refused.

import OpenAI from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";

import type { AnswerWarning } from "../protocol/openai.ts";
import { openFakeModel, type FakeModel } from "../../tests/fakes/fake-model.ts";

const schema = {
  type: "object",
  properties: { tags: { type: "array", items: { type: "integer" }, uniqueItems: true, maxItems: 2 } },
  required: ["tags"],
  additionalProperties: false,
};
const response_format = { type: "json_schema", json_schema: { name: "a", schema } } as const;
const strict = {
  model: "chorus-chat",
  messages: [{ role: "user" as const, content: "Tags?" }],
  response_format,
  max_tokens: 40,
  n: 2,
};
const body = { ...strict, structured_outputs: { lenient: true } };
const WARNING = {
  code: "keyword_left_out",
  param: "response_format.json_schema.schema.properties.tags.uniqueItems",
  keyword: "uniqueItems",
  message: expect.stringContaining("can be held for at most 8 values"),
};

let model: FakeModel;
beforeAll(async () => (model = await openFakeModel({ maxNumSeqs: 4, numGpuBlocks: 64 })));
afterAll(() => model.engine.dispose());

const client = () => new OpenAI({ baseURL: "http://localhost/v1", apiKey: "none", fetch: model.engine.fetch });

test("a whole answer has the warnings once", async () => {
  const answer = await client().chat.completions.create(body);
  expect(answer).toMatchObject({ warnings: [WARNING] });
  expect(answer.choices).toHaveLength(2);
});

test("a stream has them in its first chunk", async () => {
  const found: (readonly AnswerWarning[] | undefined)[] = [];
  for await (const chunk of await client().chat.completions.create({ ...body, stream: true })) {
    found.push((chunk as { warnings?: AnswerWarning[] }).warnings);
  }
  expect(found[0]).toEqual([WARNING]);
  expect(found.slice(1).every((one) => one === undefined)).toBe(true);
  expect(found.length).toBeGreaterThan(2);
});

test("completions have them, too, and a schema that can be held has none", async () => {
  const { completions } = model.engine;
  const prompt = "Tags:";
  const { warnings } = await completions.create({ prompt, structured_outputs: { json: schema, lenient: true } });
  expect(warnings).toEqual([{ ...WARNING, param: "structured_outputs.json.properties.tags.uniqueItems" }]);
  const held = await completions.create({ prompt, structured_outputs: { json: { type: "null" }, lenient: true } });
  expect(held).not.toHaveProperty("warnings");
});

test("responses have them, whole and streamed, by the names of their fields", async () => {
  const request = {
    model: "chorus-chat",
    input: "Tags?",
    text: { format: { type: "json_schema", name: "a", schema } },
    max_output_tokens: 40,
    structured_outputs: { lenient: true },
  } as const;
  const warnings = [{ ...WARNING, param: "text.format.schema.properties.tags.uniqueItems" }];
  expect(await client().responses.create(request)).toMatchObject({ warnings });
  const events = [];
  for await (const event of await client().responses.create({ ...request, stream: true })) events.push(event);
  expect(events.at(-1)).toMatchObject({ response: { warnings } });
});

test("without lenient it is refused", async () => {
  await expect(client().chat.completions.create(strict)).rejects.toMatchObject({
    status: 400,
    param: WARNING.param,
  });
});
