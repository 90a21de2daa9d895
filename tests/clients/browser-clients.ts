// Other people's clients, unmodified, in a browser, with an engine's fetch as theirs. The page's script; see e2e/support/clients-site.ts.

import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { ChatOpenAI } from "@langchain/openai";
import { Agent, Runner, tool as agentTool } from "@openai/agents-core";
import { OpenAIProvider } from "@openai/agents-openai";
import { jsonSchema, generateText, Output, streamText, tool } from "ai";
import OpenAI from "openai";

import { FAKE_MODEL_FILES, openFakeModelOf } from "../fakes/fake-model-of.ts";

declare global {
  var clients: Promise<Record<string, unknown>> | undefined;
}

const baseURL = "http://chorus.test/v1";
const messages = [{ role: "user" as const, content: "Once upon a time there was a small engine that liked to think." }];
const GREEDY = { model: "chorus-chat", temperature: 0, max_tokens: 12 };

async function check(): Promise<Record<string, unknown>> {
  const files = await Promise.all(
    FAKE_MODEL_FILES.map(async (name) => new File([await (await fetch(`model/${name}`)).blob()], name)),
  );
  const { engine } = await openFakeModelOf(files);
  const engineFetch = engine.fetch;
  const { choices } = await engine.chat.completions.create({ messages, temperature: 0, max_tokens: 12 });
  const client = new OpenAI({
    apiKey: "none",
    maxRetries: 0,
    baseURL,
    fetch: engineFetch,
    dangerouslyAllowBrowser: true,
  });
  const whole = await client.chat.completions.create({ ...GREEDY, messages });
  const stream = client.chat.completions.stream({ ...GREEDY, messages, stream_options: { include_usage: true } });
  const refused: unknown = await client.chat.completions
    .create({ ...GREEDY, messages, temperature: 9 })
    .catch((e: unknown) => e);
  for await (const _ of await client.chat.completions.create({ ...GREEDY, max_tokens: 200, messages, stream: true }))
    break;
  const response = await client.responses.create({
    model: "chorus-chat",
    input: "Hello",
    temperature: 0,
    max_output_tokens: 16,
  });
  const model = createOpenAICompatible({
    name: "chorus",
    baseURL,
    fetch: engineFetch,
    includeUsage: true,
    supportsStructuredOutputs: true,
  }).chatModel("chorus-chat");
  const prompt = messages[0]?.content ?? "";
  const streamed = streamText({ model, prompt, temperature: 0, maxOutputTokens: 12 });
  const schema = jsonSchema({
    type: "object",
    properties: { mood: { enum: ["glad", "sad"] } },
    required: ["mood"],
    additionalProperties: false,
  });
  const { output } = await generateText({ model, prompt, output: Output.object({ schema }) });
  const configuration = { baseURL, fetch: engineFetch, dangerouslyAllowBrowser: true };
  const options = { model: "chorus-chat", apiKey: "none", temperature: 0, maxRetries: 0, configuration };
  const chat = new ChatOpenAI({ ...options, maxTokens: 12 });
  let chained = "";
  for await (const { text } of await chat.stream(prompt)) chained += text;
  const texts = {
    expected: choices[0]?.message.content,
    openai: whole.choices[0]?.message.content,
    openaiStream: (await stream.finalChatCompletion()).choices[0]?.message.content,
    aiStream: await streamed.text,
    langChain: (await chat.invoke(prompt)).text,
    langChainStream: chained,
  };
  const { inputTokens, outputTokens } = await streamed.usage;
  const parameters = {
    type: "object" as const,
    properties: { city: { type: "string" as const, enum: ["Paris", "Oslo"] } },
    required: ["city"],
    additionalProperties: false as const,
  };
  const weather = { name: "weather", description: "Of a city.", parameters };
  /** What each client's tool was called with. */
  const asked: Record<string, unknown> = {};
  const noted = (name: string) => (given: unknown) => ((asked[name] = given), "Rain.");
  const one = { tool_choice: "required", parallel_tool_calls: false } as const;
  const ownTool = { ...weather, parse: JSON.parse, function: noted("openai") };
  const tools = [{ type: "function" as const, function: ownTool }];
  const loop = client.chat.completions.runTools(
    { ...one, model: "chorus-chat", messages, tools },
    { maxChatCompletions: 1 },
  );
  await loop.done().catch(() => undefined);
  await generateText({
    model,
    prompt,
    toolChoice: "required",
    providerOptions: { chorus: { parallel_tool_calls: false } },
    tools: { weather: tool({ inputSchema: jsonSchema(parameters), execute: noted("ai") }) },
  });
  const bound = new ChatOpenAI(options).bindTools([{ type: "function", function: weather }], one);
  asked["langChain"] = (await bound.invoke(prompt)).tool_calls?.[0]?.args;
  const agent = new Agent({
    name: "Reporter",
    model: "chorus-chat",
    modelSettings: { toolChoice: "required", parallelToolCalls: false },
    tools: [agentTool({ ...weather, strict: true, execute: noted("agents") })],
    toolUseBehavior: "stop_on_first_tool",
  });
  await new Runner({ modelProvider: new OpenAIProvider({ openAIClient: client }), tracingDisabled: true }).run(
    agent,
    prompt,
  );
  let stats = await engine.stats();
  while (stats.num_requests_running > 0) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    stats = await engine.stats();
  }
  return {
    texts,
    usage: { inputTokens, outputTokens },
    refused: refused instanceof OpenAI.BadRequestError && refused.message,
    response: response.status,
    output,
    asked,
    isFree: stats.num_gpu_blocks_free === stats.num_gpu_blocks && stats.num_requests_running === 0,
  };
}

globalThis.clients = check();
