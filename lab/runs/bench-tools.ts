// npm run bench -- tools: what calls of functions cost, in Node, on the CPU, with the embedded model.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { callFormatOf } from "../../src/api/tools/call-format.ts";
import { callGrammar } from "../../src/api/tools/call-grammar.ts";
import { markedFormat } from "../../src/api/tools/marked-format.ts";
import { parseTools } from "../../src/api/tools/tool-fields.ts";
import { Fields } from "../../src/api/validate.ts";
import { cpuBackend } from "../../src/backends/cpu/cpu-backend.ts";
import { EngineClient } from "../../src/client/engine-client.ts";
import { Grammars } from "../../src/grammar/grammars.ts";
import { EngineHost } from "../../src/host/engine-host.ts";
import type { GrammarSource } from "../../src/grammar/grammar-source.ts";
import type { ChatCompletionRequest } from "../../src/protocol/openai.ts";
import { fakePlatform } from "../../tests/fakes/fake-platform.ts";
import { root } from "../../tools/run-command.mjs";
import { markdownTable } from "../report/table.ts";
import { madeUpVocabulary } from "../schemas/vocabulary.ts";
import { medianOf } from "../statistics.ts";
import type { OptionsOf } from "./bench-parts.ts";

const MARKERS = ["<tool_call>", "</tool_call>"];
/** Its calls begin with a marker, so that other answers are free. */
const TEMPLATE =
  "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}<|assistant|>" +
  `{% if tools and 0 %}<tool_call>{"arguments": 1}{% endif %}`;
const TOOLS = Array.from({ length: 10 }, (_, i) => {
  const day = { type: "integer", minimum: 1, maximum: 31 };
  const properties = {
    city: { type: "string", maxLength: 40 },
    unit: { enum: ["C", "F"] },
    days: { type: "array", items: day },
  };
  const parameters = { type: "object", properties, required: ["city"], additionalProperties: false };
  return { type: "function" as const, function: { name: `weather_${i}`, description: "Of a city.", parameters } };
});

export async function run({ vocabulary = "151936", rounds = "5" }: OptionsOf<"tools">): Promise<void> {
  const firstMasks = await measureFirstMask(Number(vocabulary));
  console.log(markdownTable(["before the first token", "ms of processor time"], firstMasks).join("\n"));
  console.log(
    `\n${markdownTable(["", "tokens a second of processor time"], await measureAnswers(Number(rounds))).join("\n")}`,
  );
}

async function measureFirstMask(size: number): Promise<string[][]> {
  const tokens = [...madeUpVocabulary([JSON.stringify(TOOLS)], size - MARKERS.length), ...MARKERS];
  const tools = parseTools(new Fields({ tools: TOOLS }));
  if (tools === null) throw new Error("There are no tools.");
  const format = markedFormat(callFormatOf(TEMPLATE), (text) => tokens.lastIndexOf(text));
  const grammars = new Grammars(() => ({ vocabSize: size, tokens }), null);
  const grammarOf = (count: number) => {
    const callable = { ...tools, tools: tools.tools.slice(0, count) };
    return callGrammar(format, callable, null, "may open");
  };
  const steps: [string, GrammarSource][] = [
    ["the vocabulary, once a model", { kind: "regex", pattern: "a", param: "structured_outputs.regex" }],
    ["ten tools that are new", grammarOf(10)],
    ["the same ten tools again", grammarOf(10)],
    ["nine of them", grammarOf(9)],
  ];
  const rows = [];
  for (const [what, source] of steps) {
    const cost = processorTime();
    await grammars.matchers(source, [0], 1);
    rows.push([what, cost().toFixed(1)]);
  }
  grammars.dispose();
  return rows;
}

/** Starts counting, and returns what says the ms of processor time since: a busy machine makes no difference. */
function processorTime(): () => number {
  const start = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1000;
  };
}

async function measureAnswers(rounds: number): Promise<string[][]> {
  const folder = join(root, "public/models/chorus-chat");
  const files = readdirSync(folder).map((name) => {
    const text = name === "chat_template.jinja" ? TEMPLATE : readFileSync(join(folder, name));
    return new File([text], name);
  });
  const cpu = cpuBackend({ most: 1, openHelper: null });
  const service = new EngineHost(fakePlatform([], { backends: [{ name: "cpu", load: () => Promise.resolve(cpu) }] }));
  const transport = { service, died: new Promise<never>(() => undefined), close: () => undefined };
  const engine = await EngineClient.connect(transport, { type: "files", files }, { numGpuBlocks: 512, maxNumSeqs: 8 });
  const free = { max_tokens: 64, ignore_eos: true, temperature: 0 };
  const calls = { max_tokens: 64, tools: TOOLS, tool_choice: "required" } as const;
  const kinds: [string, Partial<ChatCompletionRequest>, number, number][] = [
    ["1 answer without tools", free, 1, 1],
    ["1 answer, tools allowed", { ...free, tools: TOOLS, tool_choice: "auto" }, 1, 1],
    ["8 answers at once without tools", free, 8, 8],
    ["8 answers at once, tools allowed", { ...free, tools: TOOLS, tool_choice: "auto" }, 8, 8],
    ["8 calls one by one", calls, 8, 1],
    ["8 calls at once", calls, 8, 8],
  ];
  const found = kinds.map((): number[] => []);
  for (let round = -1; round < rounds; round++) {
    for (const [i, [, body, count, atOnce]] of kinds.entries()) {
      let numTokens = 0;
      const cost = processorTime();
      for (let first = 0; first < count; first += atOnce) {
        const asked = Array.from({ length: atOnce }, async (_, one) => {
          const messages = [{ role: "user" as const, content: `How is it in town ${first + one}?` }];
          const answer = await engine.chat.completions.create({ ...body, messages, seed: first + one, stream: false });
          return answer.usage.completion_tokens;
        });
        for (const tokens of await Promise.all(asked)) numTokens += tokens;
      }
      if (round >= 0) found[i]?.push((1000 * numTokens) / cost());
    }
  }
  await engine.dispose();
  return kinds.map(([name], i) => [name, medianOf(found[i] ?? []).toFixed(0)]);
}
