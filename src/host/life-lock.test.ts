import { expect, it, vi } from "vitest";
import { FakeLocks } from "../../tests/app/fake-locks.ts";
import { holdLifeLock } from "./life-lock.ts";

it("is held as long as the thread lives", async () => {
  const locks = new FakeLocks();
  const thread = locks.tab();
  expect(await holdLifeLock(thread.locks, "a thread")).toBe(true);
  let isGone = false;
  void locks.tab().locks.request("a thread", {}, () => {
    isGone = true;
  });
  await Promise.resolve();
  expect(isGone).toBe(false);
  thread.close();
  await vi.waitFor(() => expect(isGone).toBe(true));
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
  expect(await holdLifeLock({ request }, "a thread")).toBe(false);
  expect(await holdLifeLock(undefined, "a thread")).toBe(false);
});
