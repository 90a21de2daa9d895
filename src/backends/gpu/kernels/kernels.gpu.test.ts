// Compares every descriptor with its WGSL file. A difference would otherwise show only as wrong results.

import { describe, expect, it } from "vitest";

import { openTestDevice } from "../../../../tests/gpu/gpu.ts";
import type { Kernel } from "../kernel-type.ts";
import { specialise } from "../specialise.ts";

const { device } = await openTestDevice();

const files = import.meta.glob<string>("../../../../shaders/*.wgsl", { query: "?raw", import: "default", eager: true });
const modules = import.meta.glob<Record<string, unknown>>(["./*.ts", "!./*.test.ts"], { eager: true });

function isKernel(value: unknown): value is Kernel {
  return typeof value === "object" && value !== null && "code" in value && "bindings" in value;
}

const kernels = Object.values(modules).flatMap((module) => Object.values(module).filter(isKernel));

/** The kernel's text, with every size eight. */
function textOf(kernel: Kernel): string {
  const declared = [...kernel.code.matchAll(/^override (\w+): (\w+)/gm)];
  return specialise(kernel, Object.fromEntries(declared.map(([, name = "", type]) => [name, type === "bool" ? 0 : 8])));
}

/** Loops that Tint guards, since their rounds depend on what they find. */
const GUARDED: Readonly<Record<string, number>> = { sample: 2, "process-logits": 1 };

const BINDING = /@group\(0\) @binding\((\d+)\) var<(\w+)(?:, (\w+))?> (\w+)/g;

function bindingsIn(code: string): [string, string][] {
  return [...code.matchAll(BINDING)].map(([, index, space, access, name = ""], i) => {
    expect(Number(index)).toBe(i);
    return [name, space === "uniform" ? "uniform" : access === "read" ? "read-only-storage" : "storage"];
  });
}

it("has a descriptor for every file of shaders/", () => {
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

  it("has the bindings its file declares, in their order", () => {
    expect(kernel.bindings).toEqual(bindingsIn(kernel.code));
  });

  it("has the override constants its file declares, without defaults", () => {
    const declared = [...kernel.code.matchAll(/^override (\w+): \w+( =)?/gm)];
    expect([...kernel.constants].sort()).toEqual(declared.map(([, name]) => name).sort());
    expect(declared.filter(([, , preset]) => preset)).toEqual([]);
  });

  it("has one entry point, named after it", () => {
    const entryPoints = [...kernel.code.matchAll(/@compute[^{]*?\bfn (\w+)/g)].map(([, name]) => name);
    expect(entryPoints).toEqual([kernel.name.replaceAll("-", "_")]);
  });
});
