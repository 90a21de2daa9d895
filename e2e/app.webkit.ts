// The built app and library in WebKit, which has no WebGPU on Linux: on the CPU. WebKit has no relaxed SIMD, either.

import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { PORTABLE, PORTABLE_FILES, PORTABLE_REQUEST, portableAnswers } from "../tests/requests/portable-request.ts";
import { launchWebKit, listWebKits } from "../tools/browsers/find-webkit.mjs";
import { root } from "../tools/run-command.mjs";
import { neverCommit } from "./support/never-commit.ts";
import { StaticSite } from "./support/static-site.ts";

/** tools/test.mjs names one that it has tried; "" where there is none. Run by hand, the first that is there. */
const driverPath = process.env.CHORUS_WEBKIT ?? listWebKits()[0] ?? "";
const button = (name: string) => `//button[normalize-space()="${name}" or @aria-label="${name}"]`;

describe.skipIf(driverPath === "")("in WebKit", () => {
  let webkit: Awaited<ReturnType<typeof launchWebKit>>;
  let site: StaticSite;
  beforeAll(async () => {
    site = await StaticSite.open(`${root}/dist`);
    webkit = await launchWebKit(driverPath);
  });
  afterAll(async () => {
    await webkit.close();
    await site.switchOff();
  });

  it("answers four panes asked at once, in steps that they share", async () => {
    const { session } = webkit;
    await session.goTo(`${site.url}?backend=auto&temperature=0&max_tokens=12`);
    for (let count = 1; count < 4; count++) await session.click(button("Add pane"));
    await session.click(button("Send to all"));
    await session.type("//dialog[@aria-label='Send to all']//textarea", "Tell me a joke");
    await session.click("//dialog[@aria-label='Send to all']//button[@type='submit']");
    const { answers, peak, adapter } = (await session.evaluate(`
      const turns = () => [...document.querySelectorAll('[role="log"] article:last-of-type')];
      const numEnded = () => turns().filter((turn) => turn.querySelector(":scope > footer > p")?.textContent).length;
      const term = [...document.querySelectorAll("dt")].find(({ textContent }) => textContent.includes("Peak"));
      const peak = () => term?.nextElementSibling?.textContent;
      const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
      while (numEnded() < 4) await wait(50);
      // The dock shows the last steps some frames later than the answers' ends.
      for (let waits = 0; peak() !== "4" && waits < 200; waits++) await wait(50);
      return {
        answers: turns().map((turn) => turn.querySelector("[data-answer]").textContent),
        peak: peak(),
        adapter: /CPU, [0-9]+ threads?/.exec(document.body.textContent)?.[0],
      };`)) as { answers: string[]; peak: string; adapter: string };
    expect(answers).toHaveLength(4);
    expect(answers[0]).toMatch(/\w+ \w+/);
    expect(new Set(answers).size).toBe(1);
    expect(peak).toBe("4");
    expect(adapter).toMatch(/^CPU/);
  });

  it("has what was written last after a reload at once, even if it never reaches the database", async () => {
    const { session } = webkit;
    await session.goTo(`${site.url}?backend=auto`);
    const found = `
      const box = () => document.querySelector('section[aria-label="Pane 1"] textarea');
      while (!box()) await new Promise((resolve) => setTimeout(resolve, 50));
      return box().value;`;
    // The page before was left while it saved: kept for "Back", it must hold up nobody.
    await session.evaluate(found);
    expect(await session.evaluate("return document.body.textContent")).not.toContain("Not saved");
    await session.evaluate(`(${String(neverCommit)})()`);
    await session.type("//section[@aria-label='Pane 1']//textarea", "Half a thought");
    await session.goTo(`${site.url}?backend=auto`);
    expect(await session.evaluate(found)).toBe("Half a thought");
  });

  it.each(PORTABLE_FILES)("computes on the CPU the bits that Node has: %s", async (file) => {
    const { session } = webkit;
    await session.goTo(`${site.url}lib/chorus.js`);
    const answers: unknown = await session.evaluate(`
      const { createEngine } = await import("${site.url}lib/chorus.js");
      const engine = await createEngine({ model: "${site.url}models/chorus-chat/", ...${JSON.stringify(PORTABLE[file])} });
      return (${String(portableAnswers)})(engine, ${JSON.stringify(PORTABLE_REQUEST)});`);
    expect(answers).toBe(readFileSync(`${root}/e2e/support/${file}`, "utf8"));
  });
});
