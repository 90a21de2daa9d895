import { afterEach, expect, test } from "vitest";

import { BYTE_VOCABULARY, byteTokens, EOS } from "../../tests/fakes/engine-harness.ts";
import { allowedIds, drawAnswer, grammarCompiler } from "../../tests/requests/grammars.ts";
import { GrammarService, type GrammarCall } from "./grammar-service.ts";
import type { GrammarPort } from "./grammar-service.ts";
import type { GrammarSource } from "./grammar-source.ts";
import { answerCalls } from "../threads/serve-thread.ts";
import { IsolatedGrammars, DEFAULT_LIMITS, type GrammarLimits } from "./isolated-grammars.ts";

const regex = (pattern: string): GrammarSource => ({ kind: "regex", pattern, param: "regex" });

/** Whether a call is one that the thread never comes back from. */
type IsEndless = (call: GrammarCall) => boolean;

/** Threads in place. One that meets an endless call is silent from then on, until it is ended. */
class Threads {
  numOpened = 0;
  numEnded = 0;
  isEndless: IsEndless = () => false;
  /** How long each takes to start. */
  startMs = 0;

  /** Ends all threads, as when the page whose threads they are goes. */
  goAway: () => void = () => undefined;

  readonly open = (): GrammarPort => {
    this.numOpened += 1;
    const { startMs } = this;
    const service = new GrammarService(() => grammarCompiler(BYTE_VOCABULARY));
    const started = new Promise((resolve) => setTimeout(resolve, startMs));
    let notify: Parameters<GrammarPort["listen"]>[0] = () => undefined;
    let isStuck = false;
    const take = answerCalls(service.answer.bind(service), (answer) => {
      void started.then(() => notify(structuredClone(answer) as Parameters<typeof notify>[0]));
    });
    return {
      post: (message) => {
        isStuck ||= this.isEndless(message.call);
        if (!isStuck) take(structuredClone(message));
      },
      listen: (onAnswer, _, onClosed) => {
        notify = onAnswer;
        this.goAway = onClosed;
      },
      end: () => {
        this.numEnded += 1;
        notify = () => undefined;
      },
    };
  };
}

const opened: IsolatedGrammars[] = [];
afterEach(() => {
  for (const grammars of opened.splice(0)) grammars.dispose();
});

function grammarsOf(threads: Threads, limits: Partial<GrammarLimits> = {}): IsolatedGrammars {
  const vocabulary = () => ({ vocabSize: BYTE_VOCABULARY.length, tokens: [] });
  const all = { ...DEFAULT_LIMITS, sharedMs: Infinity, compileMs: 400, maskMs: 400, ...limits };
  const grammars = new IsolatedGrammars(vocabulary, threads.open, all);
  opened.push(grammars);
  return grammars;
}

const isBomb: IsEndless = (call) =>
  call.type === "open" && call.source.kind === "regex" && call.source.pattern.startsWith("bomb");

test.each([0, Infinity])("follows a grammar from another thread (its own from %d ms on)", async (sharedMs) => {
  const grammars = grammarsOf(new Threads(), { sharedMs });
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
  const grammars = grammarsOf(threads, { maxThreads: 2, compileMs: 50 });
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

test("a grammar that was slow keeps its thread until its last matcher is done", async () => {
  const threads = new Threads();
  const grammars = grammarsOf(threads, { sharedMs: 0, maxThreads: 1 });
  const [a, b] = await grammars.matchers(regex("ab"), [EOS], 2);
  let hasComeIn = false;
  const next = grammars.matchers(regex("cd"), [EOS], 1).then((made) => {
    hasComeIn = true;
    return made;
  });
  a?.dispose();
  expect(await b?.prepareMask()).toBe(true);
  expect(hasComeIn).toBe(false);
  b?.dispose();
  expect(await next).toHaveLength(1);
});

test("requests of one slow grammar share one thread, at once and one after another", async () => {
  const threads = new Threads();
  const grammars = grammarsOf(threads, { sharedMs: 0 });
  const ask = () => grammars.matchers(regex("ab"), [EOS], 2);
  const made = (await Promise.all([ask(), ask(), ask()])).flat();
  for (const one of made) expect(one.accept(byteTokens("a")[0]!)).toBe(true);
  for (const one of made) expect([await one.prepareMask(), allowedIds(one.mask)]).toEqual([true, byteTokens("b")]);
  for (const one of made) one.dispose();
  const [later] = await ask();
  expect(await drawAnswer(later!, 5, Math.random)).toEqual(byteTokens("ab"));
  expect(threads).toMatchObject({ numOpened: 1, numEnded: 0 });
});

test("a slow grammar that nobody follows gives up its thread when others need one, and may come again", async () => {
  const threads = new Threads();
  const grammars = grammarsOf(threads, { sharedMs: 0, maxThreads: 1 });
  for (const pattern of ["ab", "cd", "ab"]) {
    const [one] = await grammars.matchers(regex(pattern), [EOS], 1);
    expect(await drawAnswer(one!, 5, Math.random)).toEqual(byteTokens(pattern));
  }
  expect(threads).toMatchObject({ numOpened: 3, numEnded: 2 });
});

test("few slow grammars keep a thread that nobody uses", async () => {
  const threads = new Threads();
  const grammars = grammarsOf(threads, { sharedMs: 0, maxThreads: 8, maxSpare: 2 });
  const patterns = ["ab", "cd", "ef", "gh"];
  const made = await Promise.all(patterns.map((pattern) => grammars.matchers(regex(pattern), [EOS], 1)));
  expect(threads).toMatchObject({ numOpened: 4, numEnded: 0 });
  for (const [one] of made) one?.dispose();
  expect(threads.numEnded).toBe(2);
  await grammars.matchers(regex("gh"), [EOS], 1);
  expect(threads.numOpened).toBe(4);
  await grammars.matchers(regex("ab"), [EOS], 1);
  expect(threads.numOpened).toBe(5);
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

test("a slow grammar whose thread is ended goes on in another of its own", async () => {
  const threads = new Threads();
  const grammars = grammarsOf(threads, { sharedMs: 0, maxThreads: 1 });
  const [good] = await grammars.matchers(regex("[xyz]*"), [EOS], 1);
  const [bad] = await grammars.matchers(regex("[xyz]*"), [EOS], 1);
  const [x, y] = byteTokens("xy");
  threads.isEndless = (call) => call.type === "next" && call.accepted.includes(y!);
  bad?.accept(y!);
  good?.accept(x!);
  expect(await Promise.all([bad?.prepareMask(), good?.prepareMask()])).toEqual([false, true]);
  expect(allowedIds(good!.mask)).toEqual([...byteTokens("xyz"), EOS]);
  // It still is the one that may have a thread.
  const other = grammars.matchers(regex("ab"), [EOS], 1);
  expect(threads.numOpened).toBe(2);
  good?.dispose();
  expect(await other).toHaveLength(1);
  expect(threads.numOpened).toBe(3);
});

test("the time in which a thread starts doesn't make a grammar slow", async () => {
  const threads = new Threads();
  threads.startMs = 300;
  const grammars = grammarsOf(threads, { sharedMs: 200, maxThreads: 1 });
  const held = await grammars.matchers(regex("ab"), [EOS], 1);
  // Were it slow, this one would wait until the other is done.
  expect(await grammars.matchers(regex("cd"), [EOS], 1)).toHaveLength(1);
  expect(held).toHaveLength(1);
});

test("who waits for a thread when the engine is disposed of is told so", async () => {
  const grammars = grammarsOf(new Threads(), { sharedMs: 0, maxThreads: 1 });
  await grammars.matchers(regex("ab"), [EOS], 1);
  const waiting = grammars.matchers(regex("cd"), [EOS], 1);
  grammars.dispose();
  await expect(waiting).rejects.toMatchObject({ code: "engine_disposed" });
});

test("a thread that can't be had fails the request", async () => {
  const grammars = new IsolatedGrammars(
    () => ({ vocabSize: 8, tokens: [] }),
    () => ({
      post: () => undefined,
      listen: (_, onFailure) => queueMicrotask(() => onFailure("no worker")),
      end: () => undefined,
    }),
  );
  const refused = grammars.matchers(regex("ab"), [EOS], 1);
  await expect(refused).rejects.toMatchObject({
    code: "internal_error",
    message: expect.stringContaining("no worker"),
  });
});
