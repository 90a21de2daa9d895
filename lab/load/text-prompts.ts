// Ten texts that every run sends, so that runs of one model can be compared with each other.

import type { ChorusEngine } from "../../src/protocol/engine.ts";
import type { ModelCard } from "../../src/protocol/reports.ts";
import type { BenchOptions } from "../page/bench-options.ts";
import { isSizeName } from "../model/model-sizes.ts";
import type { LoadRequest } from "./load.ts";
import { randomIntegers, seededRandom } from "../seeded-random.ts";

/** From 6 to 60 words: questions, requests, a list, code, and texts to work on. */
export const TEXT_PROMPTS: readonly string[] = [
  "What is the capital of France?",

  "Tell me a joke about a cat that is afraid of mice.",

  "My name is Anna and my brothers are Paul and Robert. What are my brothers' names?",

  "Apples: 4 boxes. Pears: 7 boxes. Plums: 2 boxes. Cherries: 9 boxes. How many boxes of fruit are there?",

  "function mean(values) {\n  let sum = 0;\n  for (const value of values) sum += value;\n" +
    "  return sum / values.length;\n}\n\nfunction variance(values) {\n",

  "Write to the library that the book about birds is with my aunt, and that she will send it back on Monday. Be " +
    "polite and brief.",

  "A bakery sells eighty loaves of bread on a weekday, and twice as many on Saturday. On Sunday it is closed. How " +
    "many loaves does it sell in one week?",

  "Once upon a time a lighthouse stood on a small island. Its keeper had a lamp, a boat and a dog. One Sunday the " +
    "sea was so rough that he could not row to the village. Tell how the story goes on.",

  "Put this report into one sentence. The bridge over the river was closed on Tuesday because a barge had hit one " +
    "of its piers during the night. Nobody was hurt. The mayor said that the repair would take about two weeks. " +
    "Until then, buses go over the northern bridge.",

  "Say who wins this game. There is a row of nine stones. In each turn a player takes one stone, two stones or " +
    "three stones from the row. The player who takes the last stone wins. The first player takes three stones. The " +
    "second player takes two stones. The first player takes one stone. The second player takes three stones.",
];

/** Characters per token of a typical text: for vocabularies without text. */
const CHARACTERS_PER_TOKEN = 4;

type Tokenizing = Pick<ChorusEngine, "tokenize">;
interface PromptContext {
  readonly options: Pick<BenchOptions, "model" | "outputTokens" | "seed">;
  readonly model: Pick<ModelCard, "contextLength" | "vocabSize">;
  note(remark: string): void;
}

/**
 * Returns the texts as token ids of the model under test, cut where its context ends. A random model's words are made up,
 * so it gets random ids instead, always the same ones, and as many as such a text usually has.
 */
export async function textPrompts(engine: Tokenizing, context: PromptContext): Promise<number[][]> {
  const { options, model } = context;
  const room = Math.max(1, model.contextLength - options.outputTokens);
  if (!isSizeName(options.model)) {
    const tokenized = await Promise.all(TEXT_PROMPTS.map((prompt) => engine.tokenize({ prompt })));
    return tokenized.map(({ tokens }) => tokens.slice(0, room));
  }
  context.note(
    "This model's words are made up: it gets random tokens instead of the texts, one for every four characters.",
  );
  const random = seededRandom(options.seed);
  return TEXT_PROMPTS.map(({ length }) =>
    randomIntegers(random, Math.min(room, Math.ceil(length / CHARACTERS_PER_TOKEN)), 0, model.vocabSize - 2),
  );
}

export async function textRequests(
  engine: Tokenizing,
  context: PromptContext,
  laps: number,
): Promise<readonly LoadRequest[]> {
  const prompts = await textPrompts(engine, context);
  const { outputTokens } = context.options;
  return Array.from({ length: laps }, () => prompts.map((prompt) => ({ prompt, outputTokens }))).flat();
}
