import { afterEach, expect, it, vi } from "vitest";

import { ChorusError } from "../protocol/errors.ts";
import { KernelLeftOut, Trials } from "./trials.ts";

const lost = { failure: Promise.resolve(new ChorusError("device_lost", "Lost.")) };
const sound = { failure: new Promise<never>(() => undefined) };
const works = () => Promise.resolve("works");
const fails = () => Promise.reject(new Error("Aborted."));
const never = () => new Promise<never>(() => undefined);

afterEach(() => void vi.useRealTimers());

it("a kernel that fails since its device is lost is left out, and others are not", async () => {
  const trials = new Trials();
  expect(await trials.run("good", lost, works)).toBe("works");
  await expect(trials.run("bad", lost, fails)).rejects.toMatchObject({ code: "device_lost" });
  const next = trials.afterLoss();
  await expect(next.run("bad", sound, works)).rejects.toThrow(KernelLeftOut);
  expect(await next.run("good", sound, works)).toBe("works");
});

it("a kernel that never ends is left out", async () => {
  const trials = new Trials();
  void trials.run("bad", sound, never);
  await expect(trials.afterLoss().run("bad", sound, works)).rejects.toThrow(KernelLeftOut);
});

it("no kernel is blamed for what comes after its trial, nor one that is only refused, at once", async () => {
  vi.useFakeTimers();
  const trials = new Trials();
  await trials.run("good", sound, works);
  const refused = new ChorusError("kernel_refused", "No.");
  await expect(trials.run("refused", sound, () => Promise.reject(refused))).rejects.toBe(refused);
  expect(await trials.afterLoss().run("refused", sound, works)).toBe("works");
});

it("a proof that fails on a device that isn't lost ends none of those that follow", async () => {
  vi.useFakeTimers();
  const trials = new Trials().afterLoss();
  expect(trials.isCareful).toBe(true);
  const proofs = Promise.allSettled([trials.prove("bad", sound, fails), trials.prove("good", sound, works)]);
  await vi.runAllTimersAsync();
  expect(await proofs).toMatchObject([{ status: "rejected" }, { status: "fulfilled", value: "works" }]);
});

it("nothing is tried any more once two devices were lost", async () => {
  let trials = new Trials();
  for (const kernel of ["first", "second"]) {
    void trials.run(kernel, sound, never);
    trials = trials.afterLoss();
  }
  trials = trials.afterLoss();
  void trials.prove("needed", sound, never);
  await new Promise((resolve) => setTimeout(resolve));
  trials = trials.afterLoss();
  await expect(trials.run("second", sound, works)).rejects.toMatchObject({ isSuspect: true });
  await expect(trials.run("third", sound, works)).rejects.toMatchObject({ isSuspect: false });
});

it("a kernel that two models try is left out if one of them has ended its trial", async () => {
  const trials = new Trials();
  void trials.run("bad", sound, never);
  await trials.run("bad", sound, works);
  await expect(trials.afterLoss().run("bad", sound, works)).rejects.toThrow(KernelLeftOut);
});

it("a load that goes on after it was given up blames no kernel of the next one", async () => {
  const givenUp = new Trials();
  const trials = givenUp.afterLoss();
  void givenUp.run("late", sound, never);
  void trials.run("bad", sound, never);
  const next = trials.afterLoss();
  expect(await next.run("late", sound, works)).toBe("works");
  await expect(next.run("bad", sound, works)).rejects.toThrow(KernelLeftOut);
});

it("needed kernels are proved all at once, until a device is lost and no trial was to blame: then one by one", async () => {
  const begun: string[] = [];
  const prove = (trials: Trials) => {
    for (const kernel of ["first", "second"])
      void trials.prove(kernel, sound, () => {
        begun.push(kernel);
        return never();
      });
    return new Promise((resolve) => setTimeout(resolve));
  };
  const fast = new Trials();
  await prove(fast);
  expect(begun.splice(0)).toEqual(["first", "second"]);
  const careful = fast.afterLoss();
  expect([fast.isCareful, careful.isCareful]).toEqual([false, true]);
  await careful.prove("sound", sound, works);
  await prove(careful);
  expect(begun).toEqual(["first"]);
  const next = careful.afterLoss();
  expect(next.isCareful).toBe(false);
  await expect(next.prove("first", sound, works)).rejects.toMatchObject({ code: "kernel_refused", isSuspect: true });
  expect(await next.prove("second", sound, works)).toBe("works");
});

it("after a loss no further kernel is proved, and after a refusal the others are", async () => {
  const careful = new Trials().afterLoss();
  const refused = new ChorusError("kernel_refused", "No.");
  const results = await Promise.allSettled([
    careful.prove("refused", sound, () => Promise.reject(refused)),
    careful.prove("good", sound, works),
    careful.prove("bad", lost, fails),
    careful.prove("innocent", lost, fails),
  ]);
  expect(results.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "rejected", "rejected"]);
  const next = careful.afterLoss();
  await expect(next.prove("bad", sound, works)).rejects.toThrow(KernelLeftOut);
  for (const kernel of ["refused", "good", "innocent"]) expect(await next.prove(kernel, sound, works)).toBe("works");
});
