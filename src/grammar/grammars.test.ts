import { afterEach, expect, test } from "vitest";

import { BYTE_VOCABULARY, byteTokens, EOS } from "../../tests/fakes/engine-harness.ts";
import { allowedIds, drawAnswer } from "../../tests/requests/grammars.ts";
import type { GrammarCall, GrammarPort } from "./grammar-calls.ts";
import { GrammarService } from "./grammar-service.ts";
import type { GrammarSource } from "./grammar-source.ts";
import { DEFAULT_LIMITS, Grammars, type GrammarLimits } from "./grammars.ts";
import { TokenTrie } from "./token-trie.ts";
import { ALIVE } from "../threads/thread-port.ts";
import { answerCalls } from "../threads/serve-thread.ts";

const regex = (pattern: string): GrammarSource => ({ kind: "regex", pattern, param: "regex" });

/** Whether a call is one that the thread never comes back from. */
type IsEndless = (call: GrammarCall) => boolean;

/** Threads in place. One that meets an endless call is silent from then on, until it is ended. */
class Threads {
  numOpened = 0;
  numEnded = 0;
  numCompiled = 0;
  /** Every call that came, by its kind and, of matchers, its number. */
  readonly calls: string[] = [];
  isEndless: IsEndless = () => false;
  /** How long each takes to start. */
  startMs = 0;
  tokens = BYTE_VOCABULARY.map((bytes) => String.fromCharCode(...bytes));
  /** As GrammarService has it. */
  turnMs: number | undefined = undefined;

  /** Ends the thread that was opened last, as when the page whose thread it is goes. */
  goAway: () => void = () => undefined;

  readonly open = (): GrammarPort => {
    this.numOpened += 1;
    const { startMs } = this;
    const { tokens } = this;
    const service = new GrammarService(() => new TokenTrie(tokens, tokens.length), this.turnMs);
    const started = new Promise((resolve) => setTimeout(resolve, startMs));
    let notify: Parameters<GrammarPort["listen"]>[0] = () => undefined;
    let isStuck = false;
    const take = answerCalls(service.answer.bind(service), (answer) => {
      void started.then(() => notify(structuredClone(answer) as Parameters<typeof notify>[0]));
    });
    return {
      post: (message) => {
        const { call } = message;
        isStuck ||= this.isEndless(call);
        if (call.type === "compile") this.numCompiled += 1;
        this.calls.push("id" in call ? `${call.type} ${call.id}` : call.type);
        if (!isStuck) take(structuredClone(message));
      },
      listen: (onAnswer, _, onClosed) => {
        notify = onAnswer;
        void started.then(() => notify(ALIVE));
        this.goAway = onClosed;
      },
      end: () => {
        this.numEnded += 1;
        notify = () => undefined;
      },
    };
  };
}

const opened: Grammars[] = [];
afterEach(() => {
  for (const grammars of opened.splice(0)) grammars.dispose();
});

function grammarsOf(threads: Threads, limits: Partial<GrammarLimits> = {}): Grammars {
  const vocabulary = () => ({ vocabSize: threads.tokens.length, tokens: [] });
  const all = { ...DEFAULT_LIMITS, compileMs: 400, maskMs: 400, ...limits };
  const grammars = new Grammars(vocabulary, threads.open, all);
  opened.push(grammars);
  return grammars;
}

const isBomb: IsEndless = (call) =>
  call.type === "compile" && call.source.kind === "regex" && call.source.pattern.startsWith("bomb");

test.each([undefined, 0])("follows a grammar from another thread (in turns of %j ms)", async (turnMs) => {
  const threads = new Threads();
  threads.turnMs = turnMs;
  const grammars = grammarsOf(threads);
  const [a, b] = await grammars.matchers(regex("(yes|no){2}"), [EOS], 2);
  expect(allowedIds(a!.mask)).toEqual(byteTokens("ny").sort((x, y) => x - y));
  for (const id of byteTokens("noye")) {
    expect(a?.accept(id)).toBe(true);
    expect(await a?.prepareMask()).toBe(true);
  }
  expect(a?.accept(byteTokens("x")[0]!)).toBe(false);
  const text = await drawAnswer(b!, 10, Math.random);
  expect(text).not.toBeNull();
  expect(b?.accept(EOS)).toBe(false);
  a?.dispose();
  a?.dispose();
  expect(await a?.prepareMask()).toBe(false);
});

test("says what is wrong with a grammar, as in place", async () => {
  const grammars = grammarsOf(new Threads());
  const refused = grammars.matchers(regex("(a"), [EOS], 1);
  await expect(refused).rejects.toMatchObject({ code: "invalid_value", param: "regex" });
});

test("a grammar that takes for ever costs its own request", async () => {
  const threads = new Threads();
  threads.isEndless = isBomb;
  // Long enough for the others on a busy machine.
  const grammars = grammarsOf(threads, { compileMs: 2000, maskMs: 2000 });
  const [running] = await grammars.matchers(regex("abc"), [EOS], 1);
  const bomb = grammars.matchers(regex("bomb"), [EOS], 1).catch((error: unknown) => error);
  // While it is being compiled, others go on and new ones come.
  running?.accept(byteTokens("a")[0]!);
  expect(await running?.prepareMask()).toBe(true);
  const [second] = await grammars.matchers(regex("xyz"), [EOS], 1);
  expect(allowedIds(second!.mask)).toEqual(byteTokens("x"));
  expect(await bomb).toMatchObject({
    code: "invalid_value",
    param: "regex",
    message: "regex takes longer than 2 s to compile; make it smaller or simpler.",
  });
  expect(threads.numEnded).toBe(1);
});

test("many bombs at once end one after the other, and then there is room again", async () => {
  const threads = new Threads();
  threads.isEndless = isBomb;
  const grammars = grammarsOf(threads, { maxSlow: 1, compileMs: 50 });
  const bombs = await Promise.allSettled(
    Array.from({ length: 5 }, (_, i) => grammars.matchers(regex(`bomb${i}`), [EOS], 1)),
  );
  expect(bombs.map(({ status }) => status)).toEqual(Array(5).fill("rejected"));
  expect(threads.numEnded).toBe(5);
  threads.isEndless = () => false;
  expect(await grammarsOf(threads).matchers(regex("ok"), [EOS], 1)).toHaveLength(1);
  expect(await grammars.matchers(regex("ok"), [EOS], 1)).toHaveLength(1);
});

test("a mask that takes for ever ends its own answer; the others of its thread go on with their tokens", async () => {
  const threads = new Threads();
  const grammars = grammarsOf(threads);
  const [good] = await grammars.matchers(regex("abcd"), [EOS], 1);
  const [bad] = await grammars.matchers(regex("[xyz]*"), [EOS], 1);
  for (const letter of "ab") {
    expect(good?.accept(byteTokens(letter)[0]!)).toBe(true);
    expect(await good?.prepareMask()).toBe(true);
  }
  const [badToken] = byteTokens("x");
  threads.isEndless = (call) => call.type === "next" && call.accepted.includes(badToken!);
  bad?.accept(badToken!);
  good?.accept(byteTokens("c")[0]!);
  expect(await Promise.all([bad?.prepareMask(), good?.prepareMask()])).toEqual([false, true]);
  expect(allowedIds(good!.mask)).toEqual(byteTokens("d"));
});

test("masks that take long are made by turns with others", async () => {
  const threads = new Threads();
  threads.turnMs = 0;
  const grammars = grammarsOf(threads, { maskMs: 4000 });
  const [slow] = await grammars.matchers(regex("(.|\n){2}"), [EOS], 1);
  const [quick] = await grammars.matchers(regex("ab"), [EOS], 1);
  threads.calls.length = 0;
  slow?.accept(byteTokens("x")[0]!);
  quick?.accept(byteTokens("a")[0]!);
  expect(await Promise.all([slow?.prepareMask(), quick?.prepareMask()])).toEqual([true, true]);
  expect(threads.calls.slice(0, 3)).toEqual(["next 1", "next 2", "next 1"]);
  expect(allowedIds(quick!.mask)).toEqual(byteTokens("b"));
  expect(allowedIds(slow!.mask).length).toBeGreaterThan(150);
});

test("a mask that isn't made after all its turns ends its own answer, and no thread", async () => {
  const threads = new Threads();
  threads.turnMs = 0;
  const letters = Array.from("abcdefghijklmnopqrstuvwxyz");
  threads.tokens.push(...letters.flatMap((first) => letters.map((second) => first + second)));
  const grammars = grammarsOf(threads, { maskMs: 100 });
  const [quick] = await grammars.matchers(regex("ab"), [EOS], 1);
  await expect(grammars.matchers(regex("(.|\n)*"), [EOS], 1)).rejects.toMatchObject({
    code: "invalid_value",
    message: "regex takes longer than 0.1 s to find its first tokens; make it smaller or simpler.",
  });
  quick?.accept(byteTokens("a")[0]!);
  expect(await quick?.prepareMask()).toBe(true);
  expect(threads.numEnded).toBe(0);
});

test("requests of one grammar share its compilation, at once and one after another", async () => {
  const threads = new Threads();
  const grammars = grammarsOf(threads);
  const ask = () => grammars.matchers(regex("ab"), [EOS], 2);
  const made = (await Promise.all([ask(), ask(), ask()])).flat();
  for (const one of made) expect(one.accept(byteTokens("a")[0]!)).toBe(true);
  for (const one of made) expect([await one.prepareMask(), allowedIds(one.mask)]).toEqual([true, byteTokens("b")]);
  for (const one of made) one.dispose();
  const [later] = await ask();
  expect(await drawAnswer(later!, 5, Math.random)).toEqual(byteTokens("ab"));
  expect(threads).toMatchObject({ numOpened: 2, numEnded: 0, numCompiled: 1 });
});

test("programs are kept up to a size, those that were used last", async () => {
  const threads = new Threads();
  const grammars = grammarsOf(threads, { maxKept: 560 });
  const sizes: number[] = [];
  for (const pattern of ["a{1,9}", "b{1,9}", "a{1,9}", "c{1,9}", "a{1,9}", "b{1,9}"]) {
    await grammars.matchers(regex(pattern), [EOS], 1);
    sizes.push(threads.numCompiled);
  }
  expect(sizes).toEqual([1, 2, 2, 3, 3, 4]);
});

test("what matchers hold in a thread goes with them", async () => {
  const threads = new Threads();
  const grammars = grammarsOf(threads);
  const [one] = await grammars.matchers(regex("ab"), [EOS], 1);
  one?.dispose();
  await expect(grammars.matchers(regex("(a"), [EOS], 1)).rejects.toThrow(") is missing");
  const [, two] = await grammars.matchers(regex("cd"), [EOS], 2);
  await drawAnswer(two!, 5, Math.random);
  expect(threads.calls.filter((call) => call.startsWith("close"))).toEqual(["close 1", "close 3"]);
});

test("a bomb that many ask for at once is tried once, and tried again when it is asked for again", async () => {
  const threads = new Threads();
  threads.isEndless = isBomb;
  const grammars = grammarsOf(threads, { compileMs: 50 });
  const ask = () => grammars.matchers(regex("bomb"), [EOS], 1);
  const bombs = await Promise.allSettled([ask(), ask(), ask()]);
  expect(bombs.map(({ status }) => status)).toEqual(Array(3).fill("rejected"));
  expect(threads).toMatchObject({ numOpened: 1, numEnded: 1 });
  threads.isEndless = () => false;
  expect(await ask()).toHaveLength(1);
});

test("those who wait for a compilation whose thread goes away get another one", async () => {
  const threads = new Threads();
  threads.isEndless = isBomb;
  const grammars = grammarsOf(threads);
  const waiting = ["a", "b"].map(() => grammars.matchers(regex("bomb"), [EOS], 1));
  await expect.poll(() => threads.numOpened).toBe(1);
  threads.isEndless = () => false;
  threads.goAway();
  expect((await Promise.all(waiting)).map((made) => made.length)).toEqual([1, 1]);
});

test("the time in which a thread starts is none of a grammar's", async () => {
  const threads = new Threads();
  threads.startMs = 300;
  const grammars = grammarsOf(threads, { compileMs: 250, maskMs: 250 });
  expect(await grammars.matchers(regex("ab"), [EOS], 1)).toHaveLength(1);
});

test("who waits for a thread when the engine is disposed of is told so", async () => {
  const threads = new Threads();
  threads.isEndless = isBomb;
  const grammars = grammarsOf(threads, { compileMs: 60_000 });
  const [made] = await grammars.matchers(regex("ab"), [EOS], 1);
  const waiting = ["bomb", "cd"].map((pattern) => grammars.matchers(regex(pattern), [EOS], 1));
  await expect.poll(() => threads.numCompiled).toBe(3);
  made?.accept(byteTokens("a")[0]!);
  const mask = made?.prepareMask();
  grammars.dispose();
  for (const one of waiting) await expect(one).rejects.toMatchObject({ code: "engine_disposed" });
  expect(await mask).toBe(false);
  expect(threads.numEnded).toBe(threads.numOpened);
  await expect(grammars.matchers(regex("ef"), [EOS], 1)).rejects.toMatchObject({ code: "engine_disposed" });
});

test("a thread that can't be had fails the request", async () => {
  const openPort = (): GrammarPort => ({
    post: () => undefined,
    listen: (_, onFailure) => queueMicrotask(() => onFailure("no worker")),
    end: () => undefined,
  });
  const grammars = new Grammars(() => ({ vocabSize: 8, tokens: [] }), openPort);
  const refused = grammars.matchers(regex("ab"), [EOS], 1);
  await expect(refused).rejects.toMatchObject({
    code: "internal_error",
    message: expect.stringContaining("no worker"),
  });
});
