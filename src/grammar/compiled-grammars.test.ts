import type { CompiledGrammar } from "@mlc-ai/web-xgrammar";
import { expect, test } from "vitest";

import { CompiledGrammars, MAX_COMPILED } from "./compiled-grammars.ts";

function fakeCompiler() {
  const compiled: string[] = [];
  const disposed: string[] = [];
  const compileGrammar = (text: unknown) => {
    if (text === "bad") return Promise.reject(new Error("no grammar"));
    compiled.push(String(text));
    return Promise.resolve({ dispose: () => void disposed.push(String(text)) } as CompiledGrammar);
  };
  return { compiled, disposed, grammars: new CompiledGrammars({ compileGrammar }) };
}

test("a grammar is compiled once, and a failure is not kept", async () => {
  const { compiled, grammars } = fakeCompiler();
  const first = await grammars.get("a");
  await expect(grammars.get("bad")).rejects.toThrow("no grammar");
  await expect(grammars.get("bad")).rejects.toThrow("no grammar");
  expect(await grammars.get("a")).toBe(first);
  expect(compiled).toEqual(["a"]);
});

test("the one that was not used for longest is freed", async () => {
  const { compiled, disposed, grammars } = fakeCompiler();
  const texts = Array.from({ length: MAX_COMPILED }, (_, i) => String(i));
  for (const text of [...texts, "0", "new"]) await grammars.get(text);
  expect(disposed).toEqual(["1"]);
  for (const text of ["0", "new", "1"]) await grammars.get(text);
  expect(compiled).toEqual([...texts, "new", "1"]);
  expect(disposed).toEqual(["1", "2"]);
});
