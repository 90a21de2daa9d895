// A model that thinks before it answers, through everything that looks at answers: formats, stops, counts, continuing and
// other people's clients. What it says is scripted; its template opens the thought.

import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, jsonSchema, Output } from "ai";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { ChatCompletionRequest } from "../protocol/openai.ts";
import { openFakeModel, type FakeModel } from "../../tests/fakes/fake-model.ts";
import { loadChorusTokenizer } from "../../tests/requests/request-context.ts";

const TEMPLATE =
  "{% for m in messages %}<|{{ m.role }}|>{% if m.reasoning_content %}<think>{{ m.reasoning_content }}</think>{% endif %}" +
  "{{ m.content }}{% endfor %}" +
  "{% if add_generation_prompt %}<|assistant|><think>\n{% endif %}";
const END_OF_TEXT = 0;
const messages: ChatCompletionRequest["messages"] = [{ role: "user", content: "Well?" }];
const schema = {
  type: "object" as const,
  properties: { a: { type: "boolean" as const } },
  required: ["a"],
  additionalProperties: false,
};
const format = { type: "json_schema", json_schema: { name: "a", schema } } as const;

const tokenizer = await loadChorusTokenizer();
let model: FakeModel;
beforeAll(async () => (model = await openFakeModel({ maxNumSeqs: 4, numGpuBlocks: 64 }, null, TEMPLATE)));
afterAll(() => model.engine.dispose());

/** The model will say these texts, each in tokens of its own, and end. */
function say(...texts: readonly string[]): void {
  model.backend.script = [...texts.flatMap((text) => tokenizer.encode(text)), END_OF_TEXT];
}

/** Returns the first choice, after it came streamed and whole and was the same. */
async function answer(fields: Partial<ChatCompletionRequest> = {}) {
  const body = { messages, temperature: 0, ...fields };
  const whole = await model.engine.chat.completions.create({ ...body, stream: false });
  const streamed = { reasoning: "", content: "", finish: "" };
  for await (const { choices } of await model.engine.chat.completions.create({ ...body, stream: true })) {
    for (const { index, delta, finish_reason: finish } of choices) {
      if (index !== 0) continue;
      streamed.reasoning += delta.reasoning_content ?? "";
      streamed.content += delta.content ?? "";
      streamed.finish = finish ?? streamed.finish;
    }
  }
  const [choice] = whole.choices;
  const reported = {
    reasoning: choice?.message.reasoning_content ?? "",
    content: choice?.message.content ?? "",
    finish: choice?.finish_reason,
  };
  expect(streamed).toEqual(reported);
  return reported;
}

test.each<[string, string, Partial<ChatCompletionRequest>]>([
  ["a schema", '{"a": true}', { response_format: format }],
  ["any object", '{"a": []}', { response_format: { type: "json_object" } }],
  ["a choice", "yes", { structured_outputs: { choice: ["yes", "no"] } }],
  ["a choice that begins with white space", " yes", { structured_outputs: { choice: [" yes", " no"] } }],
  ["an expression", "abab", { structured_outputs: { regex: "(ab){2}" } }],
  ["a grammar", "abab", { structured_outputs: { grammar: 'root ::= "ab" "ab"' } }],
])("%s holds after the thought, which is free", async (_, content, fields) => {
  say("Hm, <b>:", "</think>", content);
  expect(await answer(fields)).toEqual({ reasoning: "Hm, <b>:", content, finish: "stop" });
});

test("a request may say that the format holds from the first token on: then there is no thought", async () => {
  say('{"a": true}');
  expect(await answer({ response_format: format, enable_in_reasoning: true })).toEqual({
    reasoning: "",
    content: '{"a": true}',
    finish: "stop",
  });
});

test("an answer in a format does not end within its thought, neither by end-of-text nor by a stop token", async () => {
  const [stop = -1] = tokenizer.encode("!");
  model.backend.script = [END_OF_TEXT, stop, ...tokenizer.encode("</think>yes"), END_OF_TEXT];
  const structured_outputs = { choice: ["yes"] };
  const { content, reasoning, finish } = await answer({ structured_outputs, stop_token_ids: [stop] });
  expect([content, finish]).toEqual(["yes", "stop"]);
  expect(reasoning).not.toContain("!");
});

test("choices think each for itself, and min_tokens counts the thought", async () => {
  say("Hm.", "</think>", "yes");
  const { choices, usage } = await model.engine.chat.completions.create({
    messages,
    n: 2,
    min_tokens: 4,
    structured_outputs: { choice: ["yes", "no"] },
  });
  expect(choices.map(({ message }) => message)).toEqual(
    [0, 1].map(() => ({ role: "assistant", content: "yes", reasoning_content: "Hm." })),
  );
  const thought = tokenizer.encode("Hm.").length + tokenizer.encode("</think>").length;
  expect(usage.completion_tokens_details).toEqual({ reasoning_tokens: 2 * thought });
});

test("log-probabilities are those of all tokens, the thought's included", async () => {
  say("Hm.", "</think>", "yes");
  const { choices } = await model.engine.chat.completions.create({ messages, temperature: 0, logprobs: true });
  const reported = choices[0]?.logprobs?.content.map(({ token }) => token).join("");
  expect(reported).toBe("Hm.</think>yes<|endoftext|>");
});

test("a thought that max_tokens cuts off is no content", async () => {
  say("Hm, let me see.", "</think>", "yes");
  for (const fields of [{}, { response_format: format }]) {
    expect(await answer({ ...fields, max_tokens: 3 })).toMatchObject({ content: "", finish: "length" });
  }
});

test.each(["\n\n", ">", "k", "think>", "</", "</think>", "<think>"])(
  "the stop string %j is for content",
  async (stop) => {
    say("<think>One.\n\nTwo", "</think>", "\n\nA. k>think></ </think> <think>\n\nB");
    const whole = "A. k>think></ </think> <think>\n\nB";
    for (const include of [false, true]) {
      expect(await answer({ stop, include_stop_str_in_output: include })).toEqual({
        reasoning: "One.\n\nTwo",
        content: whole.slice(0, whole.indexOf(stop) + (include ? stop.length : 0)),
        finish: "stop",
      });
    }
  },
);

test("half a thought goes on as a thought", async () => {
  const started = tokenizer.encode("Hm, the");
  const last = { role: "assistant", content: "-" } as const;
  const goesOn = { messages: [...messages, last], continue_final_message: true };
  say(" rest", "</think>", "yes");
  const half = await answer({ ...goesOn, final_message_token_ids: started });
  expect(half).toEqual({ reasoning: " rest", content: "yes", finish: "stop" });
  const structured_outputs = { choice: ["yes", "no"] };
  expect(await answer({ ...goesOn, final_message_token_ids: started, structured_outputs })).toEqual(half);

  for (const message of [
    { role: "assistant", content: "", reasoning_content: "Hm, the" } as const,
    { role: "assistant", content: "<think>Hm, the" } as const,
  ]) {
    expect(await answer({ messages: [...messages, message], continue_final_message: true })).toEqual(half);
    const { text } = await model.engine.chat.render({ messages: [...messages, message], continue_final_message: true });
    expect(text).toBe("<|user|>Well?<|assistant|><think>Hm, the");
  }

  say("\n\nyes");
  const ended = await answer({ ...goesOn, final_message_token_ids: tokenizer.encode("Hm.</think>") });
  expect(ended).toEqual({ reasoning: "", content: "yes", finish: "stop" });
  say(" yes");
  const answered = await answer({ ...goesOn, final_message_token_ids: tokenizer.encode("Hm.</think>Oh") });
  expect(answered).toEqual({ reasoning: "", content: " yes", finish: "stop" });
});

test("drafts change nothing in an answer with a thought", async () => {
  say("Hm, hm, hm, hm.", "</think>", '{"a": true}');
  const without = await answer({ response_format: format });
  await model.engine.update({ speculation: { method: "ngram", num_speculative_tokens: 2 } });
  expect(await answer({ response_format: format })).toEqual(without);
});

test("beam search tells thoughts apart, too", async () => {
  const { choices } = await model.engine.chat.completions.create({
    messages,
    use_beam_search: true,
    n: 2,
    max_tokens: 5,
  });
  for (const { message } of choices) {
    expect(message.content).toBe("");
    expect(message.reasoning_content).not.toBe("");
  }
});

test("clients that want objects get them", async () => {
  say("Hm.", "</think>", '{"a": true}');
  const provider = createOpenAICompatible({
    name: "chorus",
    baseURL: "http://chorus.test/v1",
    fetch: model.engine.fetch,
    supportsStructuredOutputs: true,
  });
  const output = Output.object({ schema: jsonSchema<{ a: boolean }>(schema) });
  const generated = await generateText({ model: provider("chorus-chat"), prompt: "Well?", output });
  expect(generated.output).toEqual({ a: true });
  expect(generated.reasoningText).toBe("Hm.");

  const client = new OpenAI({
    apiKey: "none",
    maxRetries: 0,
    baseURL: "http://chorus.test/v1",
    fetch: model.engine.fetch,
  });
  const request = {
    model: "chorus-chat",
    messages: [{ role: "user" as const, content: "Well?" }],
    response_format: format,
  };
  expect((await client.chat.completions.parse(request)).choices[0]?.message.parsed).toEqual({ a: true });
});

const responses = () =>
  new OpenAI({ apiKey: "none", maxRetries: 0, baseURL: "http://chorus.test/v1", fetch: model.engine.fetch }).responses;

test("/v1/responses has the thought as an item before the message, whole and streamed, and takes it back", async () => {
  say("Hm.", "</think>", "\n\nyes");
  const body = { model: "chorus-chat", input: "Well?", temperature: 0 };
  const whole = await responses().create(body);
  expect(whole.output).toMatchObject([
    { type: "reasoning", summary: [], content: [{ type: "reasoning_text", text: "Hm." }] },
    { type: "message", content: [{ type: "output_text", text: "yes" }] },
  ]);
  const thought = tokenizer.encode("Hm.").length + tokenizer.encode("</think>").length;
  expect(whole.usage?.output_tokens_details).toEqual({ reasoning_tokens: thought });

  const events = [];
  for await (const event of await responses().create({ ...body, stream: true })) events.push(event);
  expect(events.map(({ type }) => type).filter((type, i, all) => type !== all[i - 1])).toEqual([
    "response.created",
    "response.in_progress",
    "response.output_item.added",
    "response.content_part.added",
    "response.reasoning_text.delta",
    "response.reasoning_text.done",
    "response.content_part.done",
    "response.output_item.done",
    "response.output_item.added",
    "response.content_part.added",
    "response.output_text.delta",
    "response.output_text.done",
    "response.content_part.done",
    "response.output_item.done",
    "response.completed",
  ]);
  const last = events.at(-1);
  const content = (items: OpenAI.Responses.ResponseOutputItem[]) =>
    items.map((item) => ("content" in item ? item.content : null));
  expect(last?.type === "response.completed" && content(last.response.output)).toEqual(content(whole.output));
  const ids = events.flatMap((event) =>
    "item_id" in event && "output_index" in event ? [[event.item_id, event.output_index]] : [],
  );
  expect(new Set(ids.map((id) => id.join(" "))).size).toBe(2);

  const [reasoning, message] = whole.output as OpenAI.Responses.ResponseInput;
  const question = { role: "user", content: "Well?" } as const;
  const [withThought, without] = await Promise.all(
    [
      [question, reasoning!, message!],
      [question, message!],
    ].map((input) => responses().create({ ...body, input })),
  );
  expect(withThought?.output_text).toBe("yes");
  expect(withThought!.usage!.input_tokens - without!.usage!.input_tokens).toBe(
    tokenizer.encode("<think>Hm.</think>").length,
  );
});

test("/v1/responses with a thought that is cut off has that alone", async () => {
  say("Hm, let me see.", "</think>", "yes");
  const body = { model: "chorus-chat", input: "Well?", temperature: 0, max_output_tokens: 3 };
  const { output, status } = await responses().create(body);
  expect([status, output.map(({ type }) => type)]).toEqual(["incomplete", ["reasoning"]]);
  const stream = await responses().create({ ...body, stream: true });
  const added = [];
  for await (const event of stream) if (event.type === "response.output_item.added") added.push(event.item.type);
  expect(added).toEqual(["reasoning"]);
});

test("a structured text from /v1/responses is the object", async () => {
  say("Hm.", "</think>", '{"a": true}');
  const { output_text } = await responses().create({
    model: "chorus-chat",
    input: "Well?",
    text: { format: { type: "json_schema", name: "a", schema } },
  });
  expect(JSON.parse(output_text)).toEqual({ a: true });
});

describe("beside tools", () => {
  const judge = { name: "f", parameters: schema };
  const tools = [{ type: "function" as const, function: judge }];
  const CALL = '{"tool_calls": [{"name": "f", "arguments": {"a": true}}]}';
  const response = (more: object) => {
    const client = new OpenAI({ apiKey: "none", baseURL: "http://chorus.test/v1", fetch: model.engine.fetch });
    const body = {
      model: "chorus-chat",
      input: "Well?",
      temperature: 0,
      tools: [{ type: "function", ...judge, strict: true }],
    };
    return client.responses.create({ ...body, ...more } as OpenAI.Responses.ResponseCreateParamsNonStreaming);
  };

  test("a thought comes before a call, and both go on in a response's history", async () => {
    say("Hm.</think>", CALL);
    expect(await answer({ tools })).toEqual({ reasoning: "Hm.", content: "", finish: "tool_calls" });
    const { output } = await response({});
    expect(output.map(({ type }) => type)).toEqual(["reasoning", "function_call"]);
    const [, call] = output;
    if (call?.type !== "function_call") throw new Error("no call");
    const result = { type: "function_call_output", call_id: call.call_id, output: "7" };
    say("Ah.</think>", '{"response": "Seven."}');
    const next = await response({ input: [{ role: "user", content: "Well?" }, ...output, result] });
    expect(next.output_text).toBe("Seven.");
  });

  test("a call that stands in a thought is a part of it, and so is what an unclosed one has", async () => {
    say(`Hm. ${CALL}</think>`, '{"response": "No."}');
    expect(await answer({ tools })).toEqual({ reasoning: `Hm. ${CALL}`, content: "No.", finish: "stop" });
    say(`Hm. ${CALL}`);
    const cut = await answer({ tools, max_tokens: 6 });
    expect([cut.content, cut.finish]).toEqual(["", "length"]);
    expect(`Hm. ${CALL}`.startsWith(cut.reasoning) && cut.reasoning !== "").toBe(true);
  });
});
