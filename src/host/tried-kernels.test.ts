// A kernel that loses the device, or hangs, while it is tried: the model is loaded again on the GPU, without that kernel.

import { afterEach, expect, test, vi } from "vitest";

import type { LoadOptions } from "../backends/backend.ts";
import { KernelLeftOut, Trials } from "../backends/trials.ts";
import { ChorusError } from "../protocol/errors.ts";
import { FakeBackend, type FakeDevice } from "../../tests/fakes/fake-backend.ts";
import { fakePlatform } from "../../tests/fakes/fake-platform.ts";
import { modelFiles } from "../../tests/models/model-folders.ts";
import { ModelLoader } from "./loading/model-loader.ts";
import { ModelOrigin } from "./loading/model-origin.ts";

const files = [...modelFiles()].map(([name, bytes]) => new File([bytes.slice()], name));
const never = () => new Promise<never>(() => undefined);

function prepare() {
  const gpu = new FakeBackend("webgpu", "Fake GPU");
  const platform = fakePlatform([gpu, new FakeBackend("cpu", "Fake CPU")]);
  return { gpu, loader: new ModelLoader(new ModelOrigin({ type: "files", files }, platform), {}, platform) };
}

/** Tries kernels that can do each other's work, and never ends with a bad one. Returns those that work. */
async function tryKernels(
  { trials = new Trials() }: LoadOptions,
  device: FakeDevice,
  isBad: (kernel: string) => boolean,
): Promise<readonly string[]> {
  const working: string[] = [];
  for (const kernel of ["first", "second", "third"]) {
    const trial = trials.run(kernel, device, () => (isBad(kernel) ? never() : Promise.resolve()));
    const leftOut = await trial.then(
      () => working.push(kernel),
      (error: unknown) => error,
    );
    if (leftOut instanceof ChorusError && !(leftOut instanceof KernelLeftOut)) throw leftOut;
  }
  if (working.length === 0) throw new KernelLeftOut("Every kernel", true);
  return working;
}

afterEach(() => void vi.useRealTimers());

test.each(["lost", "stuck"])("a kernel with which the device is %s costs that kernel, and not the GPU", async (how) => {
  const { gpu, loader } = prepare();
  const working: (readonly string[])[] = [];
  gpu.onLoad = async (device, options) => {
    const isBad = (kernel: string) => {
      if (kernel === "second" && how === "lost") device.lose();
      return kernel === "second";
    };
    working.push(await tryKernels(options, device, isBad));
  };
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] });
  const loading = loader.load(() => undefined);
  await vi.advanceTimersByTimeAsync(125_000);
  vi.useRealTimers();
  expect((await loading).card).toMatchObject({ adapter: "Fake GPU", notice: null });
  expect(gpu.devices.map(({ isClosed }) => isClosed)).toEqual([true, false]);
  expect(working).toEqual([["first", "third"]]);
});

test.each(["lost", "stuck"])("a kernel of the first step with which the device is %s costs the same", async (how) => {
  const { gpu, loader } = prepare();
  const working: (readonly string[])[] = [];
  gpu.onLoad = async (device, { trials = new Trials() }) => {
    const use = (kernel: string) => {
      if (kernel !== "product") return Promise.resolve(kernel);
      if (how === "lost") device.lose();
      return never();
    };
    const product = trials
      .prove("product", device, () => use("product"))
      .catch((error: unknown) => {
        if (!(error instanceof KernelLeftOut)) throw error;
        return trials.prove("other product", device, () => use("other product"));
      });
    const kernels = ["embed", "head"].map((kernel) => trials.prove(kernel, device, () => use(kernel)));
    working.push(await Promise.all([...kernels, product]));
  };
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] });
  const loading = loader.load(() => undefined);
  await vi.advanceTimersByTimeAsync(245_000);
  vi.useRealTimers();
  expect((await loading).card).toMatchObject({ adapter: "Fake GPU", notice: null });
  expect(gpu.devices).toHaveLength(3);
  expect(working).toEqual([["embed", "head", "other product"]]);
});

test("only after a device was lost for no known reason are kernels proved one by one, in the first step too", async () => {
  const { gpu, loader } = prepare();
  const isCareful: unknown[] = [];
  gpu.onLoad = (_, { trials }) => void isCareful.push(trials?.isCareful);
  await loader.load(() => undefined);
  await loader.reload(new ChorusError("device_lost", "Gone."));
  expect(isCareful).toEqual([false, true]);
});

test("where no kernel of a product is left, plainer ones run", async () => {
  const { gpu, loader } = prepare();
  const choices: unknown[] = [];
  gpu.onLoad = async (device, options) => {
    choices.push(options.kernels);
    if (options.kernels === "plain") return;
    await tryKernels(options, device, () => {
      device.lose();
      return true;
    });
  };
  const notice = expect.stringContaining("plainer, slower ones run") as string;
  expect((await loader.load(() => undefined)).card).toMatchObject({ adapter: "Fake GPU", notice });
  expect(choices).toEqual(["default", "default", "default", "plain"]);
  expect(gpu.devices).toHaveLength(3);
});

test("a kernel that was tried when the device was lost, while requests were served, is left out on the next one", async () => {
  const { gpu, loader } = prepare();
  const leftOut: boolean[] = [];
  gpu.onLoad = async (device, { trials = new Trials() }) => {
    let isLeftOut = false;
    trials.run("later", device, never).catch((error: unknown) => (isLeftOut = error instanceof KernelLeftOut));
    await new Promise((resolve) => setTimeout(resolve));
    leftOut.push(isLeftOut);
  };
  await loader.load(() => undefined);
  await loader.reload(new ChorusError("device_lost", "Gone."));
  expect(leftOut).toEqual([false, true]);
});
