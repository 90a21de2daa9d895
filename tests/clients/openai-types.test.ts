// Checked by the compiler (`npm run check`): what is typed as a request of the `openai` package can be passed on as it is.

import type OpenAI from "openai";
import { expect, expectTypeOf, test } from "vitest";

import type { ChatCompletion, ChatCompletionRequest, ChorusEngine, CompletionRequest } from "../../src/index.ts";

type Chat = ChorusEngine["chat"]["completions"];

test("OpenAI's types of messages and requests are types of requests here", () => {
  expectTypeOf<OpenAI.ChatCompletionMessageParam[]>().toExtend<ChatCompletionRequest["messages"]>();
  expectTypeOf<OpenAI.ChatCompletionCreateParams>().toExtend<ChatCompletionRequest>();
  expectTypeOf<OpenAI.ChatCompletionCreateParamsNonStreaming>().toExtend<ChatCompletionRequest>();
  expectTypeOf<OpenAI.ChatCompletionCreateParamsStreaming>().toExtend<ChatCompletionRequest & { stream: true }>();
  expectTypeOf<OpenAI.CompletionCreateParams>().toExtend<CompletionRequest>();
});

test("a request may decide as it runs whether it streams", () => {
  const ask = (completions: Chat, stream: boolean) =>
    completions.create({
      messages: [
        { role: "developer", content: [{ type: "text", text: "Be brief." }] },
        { role: "user", content: "Hi" },
      ],
      stream,
      store: true,
      metadata: { topic: "demo" },
    });
  type Answer = Awaited<ReturnType<typeof ask>>;
  expectTypeOf<Extract<Answer, ChatCompletion>>().toEqualTypeOf<ChatCompletion>();
  expectTypeOf<Exclude<Answer, ChatCompletion>>().toExtend<AsyncIterable<object>>();
  const whole = (completions: Chat, body: OpenAI.ChatCompletionCreateParamsNonStreaming) => completions.create(body);
  expectTypeOf<Awaited<ReturnType<typeof whole>>>().toEqualTypeOf<ChatCompletion>();
  expect([ask, whole]).toHaveLength(2);
});
