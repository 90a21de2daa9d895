import { afterEach, expect, test } from "vitest";

import { BYTE_VOCABULARY, byteTokens, EOS } from "../testing/fakes/engine-harness.ts";
import { allowedIds, drawAnswer, grammarCompiler } from "../testing/requests/grammars.ts";
import { GrammarService, type GrammarAnswer, type GrammarCall } from "./grammar-service.ts";
import type { GrammarPort } from "./grammar-service.ts";
import type { GrammarSource } from "./ebnf-of.ts";
import { IsolatedGrammars, USUAL_LIMITS, type GrammarLimits } from "./isolated-grammars.ts";

const regex = (pattern: string): GrammarSource => ({ kind: "regex", pattern, param: "regex" });

/** Whether a call is one that the thread never comes back from. */
type IsEndless = (call: GrammarCall) => boolean;

/** Threads in place. One that meets an endless call is silent from then on, until it is ended. */
class Threads {
  numOpened = 0;
  numEnded = 0;
  isEndless: IsEndless = () => false;

  readonly open = (): GrammarPort => {
    this.numOpened += 1;
    const service = new GrammarService(() => grammarCompiler(BYTE_VOCABULARY));
    let tell: (answer: GrammarAnswer) => void = () => undefined;
    let isStuck = false;
    return {
      post: (call) => {
        isStuck ||= this.isEndless(call);
        if (!isStuck) void service.answer(structuredClone(call)).then((answer) => tell(structuredClone(answer)));
      },
      listen: (onAnswer) => (tell = onAnswer),
      end: () => {
        this.numEnded += 1;
        tell = () => undefined;
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
  const all = { ...USUAL_LIMITS, sharedMs: Infinity, compileMs: 400, maskMs: 400, ...limits };
  const grammars = new IsolatedGrammars(vocabulary, threads.open, all);
  opened.push(grammars);
  return grammars;
}

const isBomb: IsEndless = (call) =>
  call.type === "open" && call.source.kind === "regex" && call.source.pattern === "bomb";

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
  const grammars = grammarsOf(threads);
  const [running] = await grammars.matchers(regex("abc"), [EOS], 1);
  const bomb = grammars.matchers(regex("bomb"), [EOS], 1);
  // While it is being compiled, others go on and new ones come.
  running?.accept(byteTokens("a")[0]!);
  expect(await running?.prepareMask()).toBe(true);
  const [second] = await grammars.matchers(regex("xyz"), [EOS], 1);
  expect(allowedIds(second!.mask)).toEqual(byteTokens("x"));
  await expect(bomb).rejects.toMatchObject({
    code: "invalid_value",
    param: "regex",
    message: "regex takes longer than 0.4 s to compile; make it smaller or simpler.",
  });
  expect(threads.numEnded).toBe(1);
});

test("many bombs at once end one after the other, and then there is room again", async () => {
  const threads = new Threads();
  threads.isEndless = isBomb;
  const grammars = grammarsOf(threads, { maxThreads: 2, compileMs: 50 });
  const bombs = await Promise.allSettled(Array.from({ length: 5 }, () => grammars.matchers(regex("bomb"), [EOS], 1)));
  expect(bombs.map(({ status }) => status)).toEqual(Array(5).fill("rejected"));
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
