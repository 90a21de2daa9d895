import { createEngine } from "chorus-llm";

const number = { type: "integer", maximum: 9999 };
const OWN = {
  calculate: {
    description: "Computes with two numbers.",
    parameters: {
      type: "object",
      properties: { a: number, operation: { enum: ["+", "-", "*"] }, b: number },
      required: ["a", "operation", "b"],
      additionalProperties: false,
    },
    run: ({ a, operation, b }) => String({ "+": a + b, "-": a - b, "*": a * b }[operation]),
  },
  clock: {
    description: "Says what time it is.",
    parameters: { type: "object", properties: {}, additionalProperties: false },
    run: () => new Date().toLocaleTimeString("en"),
  },
};
const mcpServer = new URLSearchParams(location.search).get("mcp");
const FUNCTIONS = mcpServer ? await functionsOf(mcpServer) : OWN;
const tools = Object.entries(FUNCTIONS).map(([name, { description, parameters }]) => ({
  type: "function",
  function: { name, description, parameters },
}));
/** A model may call for ever. */
const MAX_ROUNDS = 4;

const form = document.querySelector("form");
const figure = document.querySelector("#figure");
const show = (text) =>
  document.querySelector("ol").append(Object.assign(document.createElement("li"), { textContent: text }));

const engine = await createEngine({
  model: new URLSearchParams(location.search).get("model") ?? "Qwen/Qwen3-0.6B-GGUF:Q8_0",
  onProgress: ({ stage, done, total }) => {
    if (stage === "weights" && total > 0)
      figure.textContent = `Loading the model: ${Math.round((100 * done) / total)}%`;
  },
}).catch((error) => {
  figure.textContent = error.message;
  throw error;
});
figure.textContent = `${engine.model.name}, ${engine.model.adapter}`;
form.querySelector("button").disabled = false;

form.addEventListener("submit", (event) => {
  event.preventDefault();
  void ask(form.querySelector("input").value);
});

async function ask(question) {
  document.querySelector("ol").replaceChildren();
  const messages = [{ role: "user", content: question }];
  let numCalls = 0;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const answer = await engine.chat.completions
      .create({
        messages,
        tools,
        // The first answer must call something: a small model might not think of it.
        tool_choice: round === 0 ? "required" : "auto",
        parallel_tool_calls: false,
        temperature: 0,
        max_tokens: 80,
      })
      .catch((error) => show(error.message));
    if (!answer) break;
    const [{ message, finish_reason }] = answer.choices;
    messages.push(message);
    if (message.content) show(message.content);
    if (finish_reason !== "tool_calls") break;
    for (const call of message.tool_calls) {
      const given = JSON.parse(call.function.arguments);
      const result = await FUNCTIONS[call.function.name].run(given);
      show(`${call.function.name}(${call.function.arguments}) → ${result}`);
      messages.push({ role: "tool", tool_call_id: call.id, content: result });
      numCalls += 1;
    }
  }
  figure.textContent = `${numCalls} ${numCalls === 1 ? "call" : "calls"}, each valid (${engine.model.name}).`;
}

/** Returns the functions of a server of the Model Context Protocol. */
async function functionsOf(address) {
  const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const client = new Client({ name: "chorus-example-tools", version: "1.0.0" });
  await client.connect(new StreamableHTTPClientTransport(new URL(address)));
  const listed = await client.listTools();
  const run = (name) => async (given) => {
    const { content } = await client.callTool({ name, arguments: given });
    return content.map(({ text = "" }) => text).join("\n");
  };
  return Object.fromEntries(
    listed.tools.map(({ name, description, inputSchema }) => [
      name,
      { description, parameters: inputSchema, run: run(name) },
    ]),
  );
}
