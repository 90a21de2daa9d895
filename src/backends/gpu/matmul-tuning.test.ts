import { describe, expect, it, vi } from "vitest";
import { ChorusError } from "../../protocol/errors.ts";
import type { TuningStore } from "../backend.ts";
import { KernelLeftOut } from "../trials.ts";
import { tuneMatmuls } from "./matmul-tuning.ts";
import { matmulChoices, type MatmulVariant } from "./matmul-variants.ts";

const GPU = matmulChoices({ style: "fused", hasSubgroups: true });
const FASTEST = GPU.map((choice) => choice.at(-1) ?? choice[0]);

class MemoryStore implements TuningStore {
  readonly kept = new Map<string, readonly string[]>();
  load(key: string) {
    return Promise.resolve(this.kept.get(key));
  }
  save(key: string, names: readonly string[]) {
    this.kept.set(key, names);
    return Promise.resolve();
  }
}

/** Measures the last variant of each class as the fastest, but disturbs its first run. */
function lastIsFastest() {
  const seen = new Set<MatmulVariant>();
  return vi.fn<(variant: MatmulVariant, rows: number) => Promise<number>>((variant) => {
    const isFirst = !seen.has(variant);
    seen.add(variant);
    return Promise.resolve(FASTEST.includes(variant) ? (isFirst ? 9 : 1) : 2);
  });
}

const namesOf = (variants: readonly MatmulVariant[]) => variants.map(({ name }) => name);

describe("the tuning of the products", () => {
  it("takes the fastest of each class by its best run, and keeps their names", async () => {
    const store = new MemoryStore();
    const measure = lastIsFastest();
    expect(await tuneMatmuls(GPU, "a GPU", store, measure)).toEqual({ variants: FASTEST, reason: "measured" });
    expect(store.kept.get("a GPU")).toEqual(FASTEST.map(({ name }) => name));
    for (const [variant, rows] of measure.mock.calls) expect(rows).toBe(Math.min(variant.maxRows, 64));
  });

  it("measures each adapter and model once", async () => {
    const store = new MemoryStore();
    await tuneMatmuls(GPU, "a GPU", store, lastIsFastest());
    const again = lastIsFastest();
    expect(await tuneMatmuls(GPU, "a GPU", store, again)).toEqual({ variants: FASTEST, reason: "stored" });
    expect(again).not.toHaveBeenCalled();
    await tuneMatmuls(GPU, "another GPU", store, again);
    expect(again).toHaveBeenCalled();
  });

  it.each([[["a kernel of an older version", "tiled"]], [[]]])("measures again if %j was stored", async (kept) => {
    const store = new MemoryStore();
    store.kept.set("a GPU", kept);
    expect((await tuneMatmuls(GPU, "a GPU", store, lastIsFastest())).variants).toEqual(FASTEST);
    expect(store.kept.get("a GPU")).toEqual(FASTEST.map(({ name }) => name));
  });

  it("works without a usable store", async () => {
    const broken = { load: () => Promise.reject(new Error("no")), save: () => Promise.reject(new Error("no")) };
    expect((await tuneMatmuls(GPU, "a GPU", broken, lastIsFastest())).variants).toEqual(FASTEST);
  });

  it.each([
    [
      "the adapter refuses, and stores nothing then: a closed device refuses, too",
      new ChorusError("kernel_refused", "No."),
      FASTEST,
    ],
    ["is left out, and stores the others", new KernelLeftOut("skinny", true), [GPU[0]?.[0], ...FASTEST.slice(1)]],
  ])("takes no variant that %s", async (_, refusal, next) => {
    const store = new MemoryStore();
    const fast = lastIsFastest();
    const refuse = vi.fn<() => Promise<number>>(() => Promise.reject(refusal));
    const measure = (variant: MatmulVariant, rows: number) => (variant === FASTEST[0] ? refuse() : fast(variant, rows));
    const { variants } = await tuneMatmuls(GPU, "a GPU", store, measure);
    expect(variants).toEqual([GPU[0]?.[0], ...FASTEST.slice(1)]);
    expect(refuse).toHaveBeenCalledOnce();
    expect((await tuneMatmuls(GPU, "a GPU", store, fast)).variants).toEqual(next);
  });

  it("takes the first that has not cost a device where nothing is tried any more, and stores nothing", async () => {
    const store = new MemoryStore();
    const measure = ({ name }: MatmulVariant) => Promise.reject(new KernelLeftOut(name, name === GPU[0]?.[0].name));
    const variants = [GPU[0]?.[1], ...GPU.slice(1).map(([first]) => first)];
    expect(await tuneMatmuls(GPU, "a GPU", store, measure)).toEqual({ variants, reason: "untried" });
    expect(store.kept.size).toBe(0);
  });

  it("throws the refusal where the adapter refuses all variants of a product", async () => {
    const refused = () => Promise.reject(new ChorusError("kernel_refused", "No."));
    await expect(tuneMatmuls(GPU, "a GPU", new MemoryStore(), refused)).rejects.toThrow("No.");
  });

  it("offers no product that spills registers where there are few", () => {
    const names = (hasFewRegisters: boolean) =>
      namesOf(matmulChoices({ style: "fused", hasSubgroups: true, hasFewRegisters }).flat());
    expect(names(false)).toContain("skinny 16 x 8 x 4");
    expect(names(true)).not.toContain("skinny 16 x 8 x 4");
  });

  it.each([true, false])("has another candidate for each class, where one is left out (few registers: %s)", (few) => {
    const choices = matmulChoices({ style: "fused", hasSubgroups: true, hasFewRegisters: few });
    for (const choice of choices) expect(new Set(namesOf(choice)).size).toBeGreaterThan(1);
    for (const choice of choices) expect(new Set(choice.map(({ maxRows }) => maxRows)).size).toBe(1);
  });

  it("measures nothing if there is no choice", async () => {
    const measure = lastIsFastest();
    const software = matmulChoices({ style: "plain", hasSubgroups: true });
    const { variants, reason } = await tuneMatmuls(software, "software", new MemoryStore(), measure);
    expect([namesOf(variants), reason]).toEqual([["row", "lane", "subgroup"], "no choice"]);
    expect(measure).not.toHaveBeenCalled();
  });
});
