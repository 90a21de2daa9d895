// Chromium's processes: tests kill and measure the GPU's.

import { readFileSync } from "node:fs";
import type { Browser } from "playwright";

/** Returns its id; null if there is none now. */
export async function gpuProcessId(browser: Browser): Promise<number | null> {
  const session = await browser.newBrowserCDPSession();
  try {
    const { processInfo } = await session.send("SystemInfo.getProcessInfo");
    return processInfo.find(({ type }) => type === "GPU")?.id ?? null;
  } finally {
    await session.detach();
  }
}

/** Returns the id of the process that was killed. */
export async function killGpuProcess(browser: Browser): Promise<number | null> {
  const pid = await gpuProcessId(browser);
  if (pid !== null) process.kill(pid, "SIGKILL");
  return pid;
}

/** Returns the bytes of memory of a process; null if the system doesn't report them. */
export function residentBytes(pid: number | null): number | null {
  if (process.platform !== "linux" || pid === null) return null;
  const pages = Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]);
  return pages * 4096;
}
