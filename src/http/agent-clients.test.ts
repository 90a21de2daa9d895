// Agents of other people, unmodified: OpenAI's, and tools that an MCP client has from a server.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Agent, Runner, tool } from "@openai/agents-core";
import { OpenAIProvider } from "@openai/agents-openai";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";

import { openFakeModel, type FakeModel } from "../../tests/fakes/fake-model.ts";
import { answerMcp } from "../../tests/fakes/mcp-server.ts";

let model: FakeModel;
beforeAll(async () => void (model = await openFakeModel({ maxNumSeqs: 4, numGpuBlocks: 128 })));
afterAll(() => model.engine.dispose());

const client = () =>
  new OpenAI({ apiKey: "none", maxRetries: 0, baseURL: "http://chorus.test/v1", fetch: model.engine.fetch });

describe.each([
  ["chat completions", false],
  ["responses", true],
])("OpenAI's agents on %s", (_, useResponses) => {
  const asked: unknown[] = [];
  const weather = tool({
    name: "weather",
    description: "Of a city.",
    parameters: z.object({ city: z.enum(["Paris", "Oslo"]) }),
    execute: (given) => (asked.push(given), "Rain."),
  });
  const agent = new Agent({
    name: "Reporter",
    instructions: "Be brief.",
    model: "chorus-chat",
    tools: [weather],
    modelSettings: { toolChoice: "required", parallelToolCalls: false, temperature: 0, maxTokens: 60 },
    toolUseBehavior: "stop_on_first_tool",
  });
  const runner = () =>
    new Runner({ modelProvider: new OpenAIProvider({ openAIClient: client(), useResponses }), tracingDisabled: true });

  it("calls a tool and takes its result, whole and streamed", async () => {
    const { finalOutput, history } = await runner().run(agent, "How is it?");
    expect([finalOutput, asked]).toEqual(["Rain.", [{ city: expect.stringMatching(/^(Paris|Oslo)$/) }]]);
    const stream = await runner().run(agent, [...history, { role: "user", content: "And now?" }], { stream: true });
    const types = new Set<string>();
    for await (const event of stream) types.add(event.type);
    expect([stream.finalOutput, asked.length]).toEqual(["Rain.", 2]);
    expect(types).toContain("run_item_stream_event");
  });
});

it("an MCP client has tools that the model calls", async () => {
  const mcp = new Client({ name: "test", version: "1" });
  const url = new URL("http://mcp.test/");
  await mcp.connect(new StreamableHTTPClientTransport(url, { fetch: (_, init) => answerMcp(new Request(url, init)) }));
  const { tools } = await mcp.listTools();
  const { choices } = await client().chat.completions.create({
    model: "chorus-chat",
    messages: [{ role: "user", content: "How is it?" }],
    tools: tools.map(({ name, description = "", inputSchema: parameters }) => {
      return { type: "function", function: { name, description, parameters } };
    }),
    tool_choice: "required",
    parallel_tool_calls: false,
  });
  const [call] = choices[0]?.message.tool_calls ?? [];
  if (call?.type !== "function") throw new Error("no call");
  const given = JSON.parse(call.function.arguments);
  const result = await mcp.callTool({ name: call.function.name, arguments: given });
  expect(result.content).toEqual([{ type: "text", text: `Rain in ${given.city}.` }]);
  await mcp.close();
});
