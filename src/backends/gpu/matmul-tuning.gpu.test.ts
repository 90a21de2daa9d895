import { expect, it } from "vitest";
import { loadGolden } from "../../../tests/models/golden.ts";
import { differingWords, openTestDevice, readBuffer } from "../../../tests/gpu/gpu.ts";
import { prepareProducts } from "../../../tests/gpu/prepared-products.ts";
import { openDevice } from "./device.ts";
import { matmulChoices, defaultMatmuls } from "./matmul-variants.ts";

const opened = await openTestDevice();
const { device, hasSubgroups } = opened;
const MAX_ROWS = 40;

async function prepare(name: "gpt2-tiny" | "llama-tiny/tied") {
  return prepareProducts(opened, (await loadGolden(name)).weights, { maxRows: MAX_ROWS });
}

it("measures every variant for GPUs on a model's own weights, and all give the same bits", async () => {
  const { measure, y: hidden, destroy } = await prepare("gpt2-tiny");
  const seen = new Map<string, ArrayBuffer>();
  const others = matmulChoices({ style: "fused", hasSubgroups, hasFewRegisters: true });
  for (const [i, choice] of matmulChoices({ style: "fused", hasSubgroups }).entries()) {
    for (const variant of [...choice, ...(others[i] ?? [])]) {
      const rows = Math.min(variant.maxRows, MAX_ROWS);
      expect(await measure(variant, rows)).toBeGreaterThan(0);
      const [y, before] = [await readBuffer(device, hidden), seen.get(`${rows}`)];
      expect(new Float32Array(y, 0, 64).some((value) => value !== 0)).toBe(true);
      if (before) expect(differingWords(y, before), variant.name).toBe(0);
      seen.set(`${rows}`, y);
    }
  }
  expect(seen.size).toBe(5);
  destroy();
});

it("does not measure anything once the device is lost, whatever its queue says", async () => {
  const own = await openDevice(navigator.gpu);
  const { measure } = await prepareProducts(own, (await loadGolden("gpt2-tiny")).weights, { maxRows: 4 });
  const [variant = expect.fail("no kernel")] = defaultMatmuls({ style: "fused", hasSubgroups: false });
  expect(await measure(variant, 1)).toBeGreaterThan(0);
  own.device.destroy();
  await expect(measure(variant, 1)).rejects.toMatchObject({ code: "internal_error" });
});

it("measures both products of a gate as one", async () => {
  const { measure, y, destroy } = await prepare("llama-tiny/tied");
  const results: ArrayBuffer[] = [];
  const variants = defaultMatmuls({ style: "fused", hasSubgroups });
  for (const variant of [...variants.slice(0, 1), ...variants.slice(-1)]) {
    device.queue.writeBuffer(y, 0, new Float32Array(y.size / 4));
    expect(await measure(variant, 1)).toBeGreaterThan(0);
    results.push(await readBuffer(device, y));
  }
  // The width of the gate is 176, padded to 192: one row of it, and zeros.
  const [first = new ArrayBuffer(0)] = results;
  expect(new Float32Array(first, 0, 176).every((value) => value !== 0)).toBe(true);
  expect(new Float32Array(first).subarray(176).every((value) => value === 0)).toBe(true);
  for (const result of results) expect(differingWords(result, first)).toBe(0);
  destroy();
});
