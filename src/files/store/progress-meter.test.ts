import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { DownloadProgress } from "../../protocol/models.ts";
import { ProgressMeter } from "./progress-meter.ts";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

function meterOf(totalBytes: number, receivedBytes = 0) {
  const reported: DownloadProgress[] = [];
  const meter = new ProgressMeter({ totalBytes, receivedBytes, onProgress: (progress) => reported.push(progress) });
  return { meter, reported };
}

test("the rate excludes bytes stored before", () => {
  const { meter, reported } = meterOf(10_000, 5000);
  for (let i = 0; i < 10; i++) {
    vi.advanceTimersByTime(100);
    meter.add(100);
  }
  expect(reported[0]).toEqual({ receivedBytes: 5000, totalBytes: 10_000, bytesPerSecond: null, secondsLeft: null });
  expect(reported.at(-1)).toEqual({ receivedBytes: 6000, totalBytes: 10_000, bytesPerSecond: 1000, secondsLeft: 4 });
});

test("reports a few times a second, includes the last bytes before a pause, and stops once closed", () => {
  const { meter, reported } = meterOf(1_000_000);
  for (let i = 0; i < 1000; i++) {
    meter.add(10);
    vi.advanceTimersByTime(1);
  }
  expect(reported.length).toBeLessThan(15);
  meter.add(7);
  vi.advanceTimersByTime(100);
  expect(reported.at(-1)?.receivedBytes).toBe(10_007);
  meter.add(1);
  meter.close();
  const { length } = reported;
  vi.advanceTimersByTime(1000);
  expect(reported).toHaveLength(length);
});
