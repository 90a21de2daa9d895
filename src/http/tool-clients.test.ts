// Other people's clients, unmodified, with tools: a model without numbers draws what a grammar allows, so calls come as they
// may, and have to be valid.

import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { tool as langchainTool } from "@langchain/core/tools";
import { ChatOpenAI } from "@langchain/openai";
import { generateText, isStepCount, jsonSchema, Output, streamText, tool } from "ai";
import OpenAI, { BadRequestError } from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";

import { openFakeModel, type FakeModel } from "../../tests/fakes/fake-model.ts";

const HERMES =
  "{% for message in messages %}<|{{ message.role }}|>{{ message.content }}{% for call in message.tool_calls %}" +
  '<tool_call>\n{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}\n</tool_call>' +
  "{% endfor %}{% endfor %}{{ tools | tojson if tools }}<|assistant|>";
const parameters = {
  type: "object" as const,
  properties: { city: { type: "string" as const, enum: ["Paris", "Oslo"] } },
  required: ["city"],
  additionalProperties: false,
};
const WEATHER = { type: "function" as const, function: { name: "weather", description: "Of a city.", parameters } };
const messages = [{ role: "user" as const, content: "How is it in Oslo?" }];
const CITY = { city: expect.stringMatching(/^(Paris|Oslo)$/) };

describe.each([
  ["in the general form", null],
  ["as Hermes writes them", HERMES],
])("calls %s", (_, template) => {
  let model: FakeModel;
  beforeAll(async () => {
    model = await openFakeModel({ maxNumSeqs: 4, numGpuBlocks: 128 }, null, template);
  });
  afterAll(() => model.engine.dispose());
  const reached = () => ({ baseURL: "http://chorus.test/v1", fetch: model.engine.fetch });
  const ONE = { model: "chorus-chat", parallel_tool_calls: false, temperature: 0 };

  describe("openai", () => {
    const client = () => new OpenAI({ apiKey: "none", maxRetries: 0, ...reached() });

    it("gets the same calls whole and streamed", async () => {
      const body = { ...ONE, messages, tools: [WEATHER], tool_choice: "required" as const };
      const { choices } = await client().chat.completions.create(body);
      const [whole] = choices;
      expect(whole).toMatchObject({ finish_reason: "tool_calls", message: { role: "assistant", content: null } });
      const [call] = whole?.message.tool_calls ?? [];
      expect(call).toMatchObject({
        type: "function",
        id: expect.stringMatching(/^call_\w{24}$/),
        function: { name: "weather" },
      });
      const given = call?.type === "function" ? call.function.arguments : "";
      expect(JSON.parse(given)).toEqual(CITY);

      const stream = client().chat.completions.stream(body);
      const deltas: unknown[] = [];
      const contents: unknown[] = [];
      stream.on("chunk", ({ choices: [choice] }) => {
        deltas.push(...(choice?.delta.tool_calls ?? []));
        contents.push(choice?.delta.content);
      });
      const streamed = (await stream.finalChatCompletion()).choices[0];
      expect(streamed).toMatchObject({ finish_reason: "tool_calls" });
      expect(contents.filter((content) => content !== undefined)).toEqual([null]); // as OpenAI's do
      expect(streamed?.message.tool_calls?.[0]).toMatchObject({ function: { name: "weather", arguments: given } });
      expect(deltas[0]).toMatchObject({ index: 0, type: "function", function: { name: "weather", arguments: "" } });
      expect(deltas.slice(1)).toEqual(
        deltas.slice(1).map(() => ({ index: 0, function: { arguments: expect.any(String) } })),
      );
    });

    it("names one function, which ends with stop, and an older one", async () => {
      const named = { type: "function", function: { name: "weather" } } as const;
      const body = { ...ONE, messages, tools: [WEATHER], tool_choice: named };
      const { choices } = await client().chat.completions.create(body);
      expect(choices[0]).toMatchObject({ finish_reason: "stop", message: { tool_calls: [{ type: "function" }] } });
      const older = {
        model: "chorus-chat",
        messages,
        functions: [WEATHER.function],
        function_call: { name: "weather" },
      };
      const {
        choices: [answer],
      } = await client().chat.completions.create(older);
      expect(JSON.parse(answer?.message.function_call?.arguments ?? "")).toEqual(CITY);
      expect(answer?.message.tool_calls).toBeUndefined();
      const stream = await client().chat.completions.create({ ...older, stream: true });
      let text = "";
      for await (const {
        choices: [choice],
      } of stream)
        text += choice?.delta.function_call?.arguments ?? "";
      expect(JSON.parse(text)).toEqual(CITY);
    });

    it("says that a call was cut off", async () => {
      const body = { ...ONE, messages, tools: [WEATHER], tool_choice: "required" as const, max_tokens: 12 };
      const { choices } = await client().chat.completions.create(body);
      expect(choices[0]?.finish_reason).toBe("length");
    });

    it("runs a loop of calls, results and further calls", async () => {
      const asked: unknown[] = [];
      const run = (given: object) => (asked.push(given), "Rain.");
      const runner = client().chat.completions.runTools(
        {
          ...ONE,
          messages,
          tool_choice: "required",
          tools: [{ type: "function", function: { ...WEATHER.function, parse: JSON.parse, function: run } }],
        },
        { maxChatCompletions: 2 },
      );
      await runner.done().catch(() => undefined);
      expect(asked).toEqual([CITY, CITY]);
      const roles = runner.messages.map(({ role }) => role);
      expect(roles).toEqual(["user", "assistant", "tool", "assistant", "tool"]);
    });

    it("speaks the responses' API: items, events and outputs", async () => {
      const { type, function: own } = WEATHER;
      const body = {
        ...ONE,
        input: "How is it?",
        tools: [{ type, ...own, strict: true }],
        tool_choice: "required" as const,
      };
      const whole = await client().responses.create(body);
      const [call] = whole.output;
      expect(whole).toMatchObject({ status: "completed", tool_choice: "required", tools: [{ name: "weather" }] });
      if (call?.type !== "function_call") throw new Error("no call");
      expect(JSON.parse(call.arguments)).toEqual(CITY);

      const events = [];
      for await (const event of await client().responses.create({ ...body, stream: true })) events.push(event);
      const deltas = events.flatMap((event) =>
        event.type === "response.function_call_arguments.delta" ? [event.delta] : [],
      );
      expect(deltas.join("")).toBe(call.arguments);
      const done = events.find((event) => event.type === "response.function_call_arguments.done");
      expect(done).toMatchObject({ arguments: call.arguments, output_index: 0 });
      expect(events.at(-1)).toMatchObject({ type: "response.completed", response: { output: [{ name: "weather" }] } });

      const odd = {
        ...own,
        parameters: { ...parameters, properties: { city: { type: "string", pattern: "(?<=a)b", maxLength: 3 } } },
      };
      const left = { ...body, tools: [{ type, ...odd, strict: false }], max_output_tokens: 9 };
      const warnings = [expect.objectContaining({ param: "tools[0].parameters.properties.city.pattern" })];
      expect(await client().responses.create(left)).toMatchObject({ warnings });
      for await (const event of await client().responses.create({ ...left, stream: true })) events.push(event);
      expect(events.at(-1)).toMatchObject({ response: { warnings } });
      const unheld = { ...left, tools: [{ type, ...odd, strict: true }] };
      await expect(client().responses.create(unheld)).rejects.toMatchObject({
        param: "tools[0].parameters.properties.city.pattern",
      });

      const next = await client().responses.create({
        ...body,
        input: [
          { role: "user", content: "How is it?" },
          call,
          { type: "function_call_output", call_id: call.call_id, output: "Rain." },
        ],
        tool_choice: { type: "function", name: "weather" },
      });
      expect(next.output.map((item) => item.type)).toEqual(["function_call"]);
      const refusedAt = (more: object) =>
        client()
          .responses.create({ ...body, ...more } as never)
          .then(
            () => "accepted",
            (error: BadRequestError) => error.param,
          );
      const item = (call_id: string, text: string) => ({
        type: "function_call",
        call_id,
        name: "weather",
        arguments: text,
      });
      const instructions = "Be brief.";
      const asked = { role: "user", content: "Hi" };
      const lost = { type: "function_call_output", call_id: "x", output: "" };
      expect(await refusedAt({ instructions, input: [lost] })).toBe("input[0].call_id");
      expect(await refusedAt({ instructions, input: [asked, item("a", "{}"), item("b", "{")] })).toBe(
        "input[2].arguments",
      );
      expect(await refusedAt({ tools: [{ type: "function", name: "a b" }] })).toBe("tools[0].name");
      expect(await refusedAt({ tool_choice: { type: "function", name: "f" } })).toBe("tool_choice.name");
      const allowed = { type: "allowed_tools", mode: "auto", tools: [{ type: "function", name: "f" }] };
      expect(await refusedAt({ tool_choice: allowed })).toBe("tool_choice.tools[0].name");
      const unknown = { ...body, input: [{ type: "function_call_output" as const, call_id: "x", output: "" }] };
      await expect(client().responses.create(unknown)).rejects.toThrow(BadRequestError);
    });
  });

  describe("the AI SDK", () => {
    /** A model without numbers would call until its context is full. */
    const SINGLE = { providerOptions: { chorus: { parallel_tool_calls: false } } };
    const sdk = () =>
      createOpenAICompatible({ name: "chorus", supportsStructuredOutputs: true, ...reached() })("chorus-chat");
    const tools = () => ({
      weather: tool({
        description: "Of a city.",
        inputSchema: jsonSchema<{ city: string }>(parameters),
        execute: () => "Rain.",
      }),
    });

    it("takes several steps", async () => {
      const { steps } = await generateText({
        model: sdk(),
        prompt: "How is it?",
        tools: tools(),
        toolChoice: "required",
        ...SINGLE,
        stopWhen: isStepCount(2),
      });
      expect(steps.map((step) => step.toolCalls.map(({ input }) => input)).flat()).toContainEqual(CITY);
      expect(steps[0]?.toolResults[0]).toMatchObject({ output: "Rain.", toolName: "weather" });
    });

    it("streams a tool's input", async () => {
      const { fullStream } = streamText({
        model: sdk(),
        prompt: "How is it?",
        tools: tools(),
        toolChoice: "required",
        ...SINGLE,
      });
      const types = new Set<string>();
      for await (const part of fullStream) types.add(part.type);
      expect([...types]).toEqual(
        expect.arrayContaining(["tool-input-start", "tool-input-delta", "tool-call", "tool-result"]),
      );
      expect(types).not.toContain("error");
    });

    it("makes an object beside tools", async () => {
      const schema = jsonSchema<{ mood: string }>({
        type: "object",
        properties: { mood: { enum: ["glad"] } },
        required: ["mood"],
        additionalProperties: false,
      });
      const { steps } = await generateText({
        model: sdk(),
        prompt: "Hi",
        tools: tools(),
        output: Output.object({ schema }),
        ...SINGLE,
      });
      const [step] = steps;
      expect(step?.text === "" ? step.toolCalls.length > 0 : JSON.parse(step?.text ?? "")).toEqual(
        step?.text === "" ? true : { mood: "glad" },
      );
    });
  });

  describe("LangChain's ChatOpenAI", () => {
    const chat = () => {
      const { baseURL, fetch } = reached();
      return new ChatOpenAI({ model: "chorus-chat", apiKey: "none", maxRetries: 0, configuration: { baseURL, fetch } });
    };
    const weather = langchainTool(() => "Rain.", {
      name: "weather",
      description: "Of a city.",
      schema: z.object({ city: z.enum(["Paris", "Oslo"]) }),
    });

    it("binds tools, and takes their results", async () => {
      const bound = chat().bindTools([weather], { tool_choice: "required", parallel_tool_calls: false });
      const answer = await bound.invoke("How is it?");
      const [call] = answer.tool_calls ?? [];
      expect(call).toMatchObject({ name: "weather", args: CITY });
      const result = await weather.invoke({ ...call!, type: "tool_call" });
      const results = (answer.tool_calls ?? []).map(({ id = "" }) =>
        Object.assign(Object.create(result), { tool_call_id: id }),
      );
      const next = await bound.invoke([{ role: "user", content: "How is it?" }, answer, ...results]);
      expect(next.tool_calls?.[0]).toMatchObject({ name: "weather", args: CITY });
    });

    it.each(["jsonSchema", "functionCalling", "jsonMode"] as const)("makes objects by %s", async (method) => {
      const structured = chat().withStructuredOutput(z.object({ city: z.enum(["Paris", "Oslo"]) }), { method });
      // Any object may come in the last mode, so only that it parses is sure.
      const made = structured.invoke("How is it?");
      if (method === "jsonMode") await made.catch((error: Error) => expect(error.message).toMatch(/parse/i));
      else expect(await made).toEqual(CITY);
    });
  });
});
