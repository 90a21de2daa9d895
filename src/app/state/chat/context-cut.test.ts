import { expect, it, vi } from "vitest";
import { FakeEngine } from "../../../../tests/app/fake-engine.ts";
import { lastTurn, openPanes } from "../../../../tests/app/open-panes.ts";
import { contextCut, type Tokenize } from "./context-cut.ts";
import type { Turn } from "./conversation.ts";
import { streamAnswer } from "./stream-answer.ts";

const words = (count: number) => Array.from({ length: count }, () => "w").join(" ");
/** Each turn has one word more than the one before, up to thirteen. */
const chat = (numTurns: number): Turn[] =>
  Array.from({ length: numTurns }, (_, id) => ({ id, question: words(1 + (id % 13)), answer: "Yes.", end: "stop" }));

function counted(turns: readonly Turn[]) {
  const engine = new FakeEngine();
  const tokenize = vi.fn<Tokenize>(engine.tokenize.bind(engine));
  return { cut: contextCut(turns, "Be brief.", tokenize), tokenize };
}

it.each([0, 1, 2, 7, 300])("of %i turns as many are left out as must be, and no more", async (numTurns) => {
  for (const limit of [0, 3, 5, 20, 21, 22, 150, 100_000]) {
    for (const contextStart of [0, Math.floor(numTurns / 2)]) {
      const { cut } = counted(chat(numTurns));
      const first = await cut.firstThatFits(contextStart, 2, limit);
      const room = async (from: number) => limit - 2 - (await cut.tokensFrom(from));
      if (first < numTurns) expect(await room(first)).toBeGreaterThanOrEqual(0);
      if (first > contextStart) expect(await room(first - 1)).toBeLessThan(0);
      expect(first).toBeGreaterThanOrEqual(contextStart);
    }
  }
});

it("counts a long chat a few times, and no word far beyond what fits; the next question costs nothing", async () => {
  const { cut, tokenize } = counted(chat(300));
  await cut.firstThatFits(0, 2, 256);
  expect(tokenize.mock.calls.length).toBeLessThan(14);
  const counts = await Promise.all(tokenize.mock.results.map(async ({ value }) => (await value).count));
  expect(Math.max(...counts)).toBeLessThan(1024);
  const numCalls = tokenize.mock.calls.length;
  await cut.firstThatFits(0, 3, 256);
  expect(tokenize.mock.calls.length - numCalls).toBeLessThan(3);
});

it("a chat of three hundred turns is refused once, cut once, and answered", async () => {
  const { control, first, step, openPane } = openPanes({ model: { contextLength: 512 } });
  const create = vi.spyOn(first.chat.completions, "create");
  await control.start();
  const pane = openPane(1, { title: null, settings: {}, turns: chat(300), contextStart: 0, draft: "" });
  pane.send("And now?");
  await step(2);
  expect(create).toHaveBeenCalledTimes(2);
  expect(lastTurn(pane)).toMatchObject({ question: "And now?", answer: "Yes.", end: "stop" });
  // 256 tokens are kept for the answer; with one turn more there would be too many.
  const { contextStart } = pane.store.getState();
  const tokens = (from: number) =>
    chat(300)
      .slice(from)
      .reduce((sum, { question }) => sum + question.split(" ").length + 1, 2);
  expect(tokens(contextStart)).toBeLessThanOrEqual(256);
  expect(tokens(contextStart - 1)).toBeGreaterThan(256);
});

it("where nobody counts tokens a long chat is cut by a few refusals, and most of what fits is sent", async () => {
  const limit = 512;
  const engine = new FakeEngine({ model: { contextLength: limit } });
  const create = vi.spyOn(engine.chat.completions, "create");
  // As a server that says nothing about its context.
  const model = { ...engine.model, contextLength: null };
  const answerer = { model, chat: engine.chat, completions: engine.completions };
  const turns = [...chat(300), { id: 300, question: "And now?", answer: "", end: null }];
  const abort = new AbortController();
  const settings = { max_tokens: 256 };
  const parts = streamAnswer({
    answerer,
    turns,
    started: null,
    tools: [],
    contextStart: 0,
    settings,
    requestId: "r",
    signal: abort.signal,
  });
  const first = parts.next();
  await expect.poll(() => engine.accepted).toHaveLength(1);
  engine.step();
  const { value } = await first;
  expect(create.mock.calls.length).toBeLessThan(20);
  const best = await counted(turns.slice(0, -1)).cut.firstThatFits(0, 2, limit - settings.max_tokens);
  expect(value!.contextStart).toBeGreaterThanOrEqual(best);
  expect(turns.length - value!.contextStart).toBeGreaterThan(0.6 * (turns.length - best));
  abort.abort();
});

const ANNA: Turn = { id: 0, question: "My name is Anna.", answer: "Hello Anna.", end: "stop" };

/** Asks a model of 64 tokens; returns the questions that it read, and the most tokens that its answer might have. */
async function readWith(max_tokens: number, who: { canCount: boolean; contextLength: number | null }) {
  const engine = new FakeEngine({ model: { contextLength: 64 } });
  const { chat: requested, completions } = engine;
  const model = { ...engine.model, contextLength: who.contextLength };
  const answerer = {
    model,
    chat: requested,
    completions,
    ...(who.canCount && { tokenize: engine.tokenize.bind(engine) }),
  };
  const turns = [ANNA, { id: 1, question: "What is my name?", answer: "", end: null }];
  const common = { started: null, tools: [], contextStart: 0, requestId: "r", signal: new AbortController().signal };
  const parts = streamAnswer({ answerer, turns, settings: { max_tokens }, ...common });
  const first = parts.next();
  await expect.poll(() => engine.accepted).toHaveLength(1);
  engine.step();
  await first;
  const { messages, max_tokens: mostTokens } = engine.accepted[0]!;
  return { questions: messages.filter(({ role }) => role === "user").length, mostTokens };
}

it.each([
  ["this page's engine", { canCount: true, contextLength: 64 }, null],
  ["a server that tells its context", { canCount: false, contextLength: 64 }, 32],
  ["a server that tells nothing", { canCount: false, contextLength: null }, null],
] as const)(
  "an answer that may be as long as the context, and longer, takes nothing of the chat: %s",
  async (_, who, most) => {
    for (const long of [63, 64, 600, 1_000_000]) {
      expect(await readWith(long, who)).toEqual({ questions: 2, mostTokens: most });
    }
    expect(await readWith(20, who)).toEqual({ questions: 2, mostTokens: 20 });
  },
);
