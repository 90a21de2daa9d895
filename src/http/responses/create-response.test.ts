import { beforeEach, expect, test } from "vitest";

import { openFakeModel, type FakeModel } from "../../../tests/fakes/fake-model.ts";

let model: FakeModel;
beforeEach(async () => void (model = await openFakeModel()));

const BODY = { input: "Hello", max_output_tokens: 4, temperature: 0, ignore_eos: true } as const;

test("a response of the library is the one that HTTP gives, whole and streamed", async () => {
  const { engine } = model;
  const whole = await engine.responses.create(BODY);
  expect(whole).toMatchObject({ object: "response", status: "incomplete", usage: { output_tokens: 4 } });
  const overHttp = await engine.fetch("http://chorus/v1/responses", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(BODY),
  });
  expect(((await overHttp.json()) as typeof whole).output_text).toBe(whole.output_text);
  let text = "";
  let last = "";
  for await (const event of await engine.responses.create({ ...BODY, stream: true })) {
    if (event.type === "response.output_text.delta") text += event.delta;
    last = event.type;
  }
  expect([text, last]).toEqual([whole.output_text, "response.incomplete"]);
});

test("a wrong request is refused with the name that the field has here", async () => {
  const { engine } = model;
  const wrong = { ...BODY, input: [{ role: "user" as const, content: 7 as unknown as string }] };
  await expect(engine.responses.create(wrong)).rejects.toMatchObject({ param: "input[0].content" });
});
