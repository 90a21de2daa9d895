// Constrained answers beside a free one.

import { expect, test } from "playwright/test";
import { createEngine, openBarePage } from "./support/library.ts";

test("answers follow their schemas while a free one runs, and only they load the grammar module", async ({ page }) => {
  const loaded: string[] = [];
  page.context().on("response", (response) => loaded.push(response.url()));
  const grammarFiles = () => loaded.filter((url) => url.includes("grammar"));
  await openBarePage(page);
  const engine = await createEngine(page);
  const free = { prompt: "Once upon a time", temperature: 0, ignore_eos: true, max_tokens: 40 };
  const alone = await engine.evaluate(async (engine, free) => engine.completions.create(free), free);
  expect(grammarFiles()).toEqual([]);

  const { beside, answers, refused, after } = await engine.evaluate(async (engine, free) => {
    const messages = [{ role: "user" as const, content: "What is the capital of France?" }];
    const schema = {
      type: "object",
      properties: { city: { type: "string", maxLength: 12 }, people: { type: "integer", minimum: 1, maximum: 120 } },
      required: ["city", "people"],
      additionalProperties: false,
    };
    const ask = (fields: object) => engine.chat.completions.create({ messages, max_tokens: 60, seed: 5, ...fields });
    const [beside, ...responses] = await Promise.all([
      engine.completions.create(free),
      ask({ n: 3, response_format: { type: "json_schema", json_schema: { name: "city", schema } } }),
      ask({ structured_outputs: { choice: ["Paris", "Rome"] } }),
      ask({ structured_outputs: { regex: "[A-Z]{3}-\\d{2}" } }),
    ]);
    const answers = responses.map((response) =>
      response.choices.map((choice) => [choice.finish_reason, choice.message.content]),
    );
    const refused = await ask({ structured_outputs: { grammar: "root ::= [" } }).catch(
      (error: { code: string; param: string; message: string }) => [error.code, error.param, error.message],
    );
    const after = await ask({ structured_outputs: { grammar: 'root ::= "yes" | "no"' } });
    return { beside, answers, refused, after: after.choices[0]?.message.content };
  }, free);

  expect(beside.choices[0]?.text).toBe(alone.choices[0]?.text);
  const [cities = [], choices, plates] = answers;
  for (const [reason, content] of cities) {
    expect(reason).toBe("stop");
    const city = JSON.parse(content ?? "") as { city: string; people: number };
    expect(Object.keys(city)).toEqual(["city", "people"]);
    expect(city.city.length).toBeLessThanOrEqual(12);
    expect(city.people).toBeGreaterThanOrEqual(1);
    expect(city.people).toBeLessThanOrEqual(120);
  }
  expect(choices).toEqual([["stop", expect.stringMatching(/^(Paris|Rome)$/)]]);
  expect(plates).toEqual([["stop", expect.stringMatching(/^[A-Z]{3}-\d{2}$/)]]);
  expect(refused).toEqual(["invalid_value", "structured_outputs.grammar", expect.stringContaining("Unterminated")]);
  expect(after).toMatch(/^(yes|no)$/);
  await expect.poll(() => grammarFiles().length).toBeGreaterThan(0);
});
