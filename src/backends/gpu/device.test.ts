import { afterEach, expect, it, vi } from "vitest";

import { openDevice } from "./device.ts";

afterEach(() => void vi.unstubAllGlobals());

function gpuWith(info: Partial<GPUAdapterInfo>): GPU {
  const none = new Set();
  const device = { features: none, lost: new Promise(() => undefined), addEventListener: () => undefined };
  const adapter = { info, features: none, limits: {}, requestDevice: () => Promise.resolve(device) };
  return { requestAdapter: () => Promise.resolve(adapter) } as unknown as GPU;
}

const FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:153.0) Gecko/20100101 Firefox/153.0";
const CHROME = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36";

it.each([
  ["a GPU in Firefox, which doesn't say whose", FIREFOX, { vendor: "", isFallbackAdapter: false }, true, true],
  ["a software adapter in Firefox", FIREFOX, { vendor: "", isFallbackAdapter: true }, false, false],
  ["an Intel GPU in Chrome", CHROME, { vendor: "intel", isFallbackAdapter: false }, false, true],
  ["an AMD GPU in Chrome", CHROME, { vendor: "amd", isFallbackAdapter: false }, false, false],
])(
  "%s: whether loops are written out, and registers are few",
  async (_, userAgent, info, writesLoops, hasFewRegisters) => {
    vi.stubGlobal("navigator", { userAgent });
    expect(await openDevice(gpuWith(info))).toMatchObject({ writesLoops, hasFewRegisters });
  },
);
