// Every kernel's file: its loops, bindings, constants and entry point.

import { describe, expect, it } from "vitest";

import { openTestDevice } from "../../../../tests/gpu/gpu.ts";
import type { Kernel } from "../define-kernel.ts";
import { specialise } from "../specialise.ts";
import * as all from "./kernels.ts";

const { device } = await openTestDevice();

const files = import.meta.glob<string>("../../../../shaders/*.wgsl", { query: "?raw", import: "default", eager: true });
const kernels = Object.values(all);

/** The kernel's text, with every size eight. */
function textOf(kernel: Kernel): string {
  const declared = [...kernel.code.matchAll(/^override (\w+): (\w+)/gm)];
  return specialise(kernel, Object.fromEntries(declared.map(([, name = "", type]) => [name, type === "bool" ? 0 : 8])));
}

/** Loops that Tint guards, since their rounds depend on what they find. */
const GUARDED: Readonly<Record<string, number>> = { sample: 2, "process-logits": 1 };

it("there is one for every file of shaders/", () => {
  const names = Object.keys(files).map((path) => path.replace(/.*\/(.*)\.wgsl/, "$1"));
  expect([...new Set(kernels.map((kernel) => kernel.name))].sort()).toEqual(names.sort());
});

describe.each(kernels)("$name", (kernel) => {
  it("compiles without a message", async () => {
    const { messages } = await device.createShaderModule({ code: textOf(kernel) }).getCompilationInfo();
    expect(messages.map((m) => `${m.lineNum}:${m.linePos} ${m.message}`)).toEqual([]);
  });

  it("has loops that Tint proves finite: others are neither unrolled nor load ahead", () => {
    const code = textOf(kernel).replaceAll(/\/\/.*/g, "");
    const loops = [...code.matchAll(/\b(?:for|while|loop)\b.*/g)].map(([loop]) => loop);
    const isProvable = (loop: string) =>
      /^for \(var (\w+) = (?:\b\d\w*|[^a-z;])+; \1 < (?:\b\d\w*|[^a-z;])+; \1\+\+\)/.test(loop);
    expect(loops.filter((loop) => !isProvable(loop))).toHaveLength(GUARDED[kernel.name] ?? 0);
  });

  it("numbers its bindings from zero, in their order", () => {
    const numbers = [...kernel.code.matchAll(/@binding\((\d+)\)/g)].map(([, number]) => Number(number));
    expect(numbers).toEqual(kernel.bindings.map((_, i) => i));
  });

  it("has override constants without defaults", () => {
    const declared = [...kernel.code.matchAll(/^override (\w+): \w+( =)?/gm)];
    expect(declared.filter(([, , preset]) => preset)).toEqual([]);
  });

  it("has one entry point, named after it", () => {
    const entryPoints = [...kernel.code.matchAll(/@compute[^{]*?\bfn (\w+)/g)].map(([, name]) => name);
    expect(entryPoints).toEqual([kernel.name.replaceAll("-", "_")]);
  });
});
