import { expect, it } from "vitest";

import { ChorusError } from "../protocol/errors.ts";
import { KernelLeftOut, Trials } from "./trials.ts";

const lost = { failure: Promise.resolve(new ChorusError("device_lost", "Lost.")) };
const sound = { failure: new Promise<never>(() => undefined) };
const works = () => Promise.resolve("works");
const fails = () => Promise.reject(new Error("Aborted."));
const never = () => new Promise<never>(() => undefined);

it("a kernel that fails since its device is lost is left out, and others are not", async () => {
  const trials = new Trials();
  expect(await trials.run("good", lost, works)).toBe("works");
  await expect(trials.run("bad", lost, fails)).rejects.toMatchObject({ code: "device_lost" });
  trials.blame();
  await expect(trials.run("bad", sound, works)).rejects.toThrow(KernelLeftOut);
  expect(await trials.run("good", sound, works)).toBe("works");
});

it("a kernel that never ends is left out", async () => {
  const trials = new Trials();
  void trials.run("bad", sound, never);
  trials.blame();
  await expect(trials.run("bad", sound, works)).rejects.toThrow(KernelLeftOut);
});

it("no kernel is blamed for what comes after its trial, nor one that is only refused", async () => {
  const trials = new Trials();
  await trials.run("good", sound, works);
  const refused = new ChorusError("kernel_refused", "No.");
  await expect(trials.run("refused", sound, () => Promise.reject(refused))).rejects.toBe(refused);
  trials.blame();
  expect(await trials.run("refused", sound, works)).toBe("works");
});

it("nothing is tried any more once two devices were lost", async () => {
  const trials = new Trials();
  for (const kernel of ["first", "second"]) {
    void trials.run(kernel, sound, never);
    trials.blame();
  }
  await expect(trials.run("second", sound, works)).rejects.toMatchObject({ isSuspect: true });
  await expect(trials.run("third", sound, works)).rejects.toMatchObject({ isSuspect: false });
});

it("a kernel that two models try is left out if one of them has ended its trial", async () => {
  const trials = new Trials();
  void trials.run("bad", sound, never);
  await trials.run("bad", sound, works);
  trials.blame();
  await expect(trials.run("bad", sound, works)).rejects.toThrow(KernelLeftOut);
});
