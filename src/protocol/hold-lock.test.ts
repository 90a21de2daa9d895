import { expect, it } from "vitest";
import { FakeLocks } from "../../tests/app/fake-locks.ts";
import { holdLock } from "./hold-lock.ts";

it("is held as long as the thread lives", async () => {
  const locks = new FakeLocks();
  const thread = locks.tab();
  expect(await holdLock(thread.locks, "a thread")).toBe(true);
  let isGone = false;
  void locks.tab().locks.request("a thread", {}, () => {
    isGone = true;
  });
  await Promise.resolve();
  expect(isGone).toBe(false);
  thread.close();
  await expect.poll(() => isGone).toBe(true);
});

it.each([
  ["rejects", () => Promise.reject(new DOMException("Blocked.", "SecurityError"))],
  [
    "throws",
    () => {
      throw new DOMException("Blocked.", "SecurityError");
    },
  ],
])("lets the thread start where the browser %s", async (_, request) => {
  expect(await holdLock({ request }, "a thread")).toBe(false);
  expect(await holdLock(undefined, "a thread")).toBe(false);
});
