import puppeteer from "puppeteer-core";
import { spawn } from "node:child_process";
import { chromiumFlags } from "./chromium-flags.mjs";
const server = spawn("npx", ["vite", "preview", "--host", "127.0.0.1", "--port", "4187", "--strictPort"], { stdio: "ignore" });
await new Promise((r) => setTimeout(r, 3000));
const url = "http://127.0.0.1:4187/";
const pane = (n) => `section[aria-label="Pane ${n}"]`;
const button = (name) => `::-p-aria([name="${name}"][role="button"])`;
const launch = (kind, dark) => kind === "firefox"
  ? puppeteer.launch({ browser: "firefox", executablePath: "/usr/bin/firefox-esr", headless: true, extraPrefsFirefox: { "dom.webgpu.enabled": true, "dom.webgpu.workers.enabled": true, "gfx.webgpu.ignore-blocklist": true, "layout.css.prefers-color-scheme.content-override": dark ? 0 : 1 } })
  : puppeteer.launch({ executablePath: "/usr/bin/chromium", headless: true, args: [...chromiumFlags(), ...(dark ? ["--force-dark-mode"] : [])] });
const only = process.argv.slice(2);
try {
  for (const kind of ["chromium", "firefox"]) for (const dark of [false, true]) for (const [w, h] of [[1440, 900], [390, 844]]) {
    if (only.length && !only.includes(`${kind}-${w}-${dark ? "dark" : "light"}`)) continue;
    const browser = await launch(kind, dark);
    try {
      const context = browser;
      const page = await context.newPage();
      await page.setViewport({ width: w, height: h });
      if (kind === "chromium") await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }]);
      const shot = async (name) => { await new Promise((r) => setTimeout(r, 500)); await page.screenshot({ path: `/tmp/shots/${name}-${w}-${dark ? "dark" : "light"}-${kind}.png` }); };
      const step = async (name, work) => { try { await work(); } catch (e) { console.log(kind, w, dark, name, String(e).split("\n")[0]); } await shot(name); };
      await page.goto(`${url}?backend=cpu&temperature=0&max_tokens=60`);
      await page.waitForSelector(`${pane(1)} textarea`);
      await step("workspace", async () => {
        for (const n of w > 1000 ? [2, 3, 4] : []) { await page.locator(button("Add pane")).click(); await page.waitForSelector(pane(n)); }
        const q = ["Tell me a story about a fox.", "Write a poem about the sea.", "How do I cook rice?", "Tell me a story about a robot."];
        for (const n of w > 1000 ? [1, 2, 3, 4] : [1]) { await page.locator(`${pane(n)} textarea`).fill(q[n - 1]); await page.locator(`${pane(n)} ${button("Send")}`).click(); }
        await page.waitForFunction((n) => [...document.querySelectorAll('[role="log"] article > footer > p')].filter((p) => p.textContent).length >= n, { timeout: 60000 }, w > 1000 ? 4 : 1);
      });
      for (const tab of ["Charts", "Cache blocks", "Events"]) await step(`dock-${tab.split(" ")[0].toLowerCase()}`, async () => {
        if (w < 1000 && tab === "Charts") { const b = await page.$('nav [role="tab"]:last-of-type, [role="tablist"] [role="tab"]:last-of-type'); await b?.click(); }
        await page.locator(`::-p-aria([name="${tab}"][role="tab"])`).setTimeout(4000).click();
      });
      await step("palette", async () => { await page.keyboard.down("Control"); await page.keyboard.press("k"); await page.keyboard.up("Control"); });
      await page.keyboard.press("Escape");
      await step("settings", async () => { await page.locator(button("Settings for all panes")).setTimeout(4000).click(); });
      await page.keyboard.press("Escape");
      await page.keyboard.press("Escape");
      await page.goto(`${url}#/bench`);
      await page.reload();
      await step("bench", async () => { await page.locator(button("Run")).setTimeout(5000).wait(); });
    } finally { await browser.close(); }
  }
  // Pairs beside each other.
  const browser = await puppeteer.launch({ executablePath: "/usr/bin/chromium", headless: true, args: ["--no-sandbox", "--allow-file-access-from-files"] });
  const page = await browser.newPage();
  const { readdirSync, writeFileSync } = await import("node:fs");
  for (const f of readdirSync("/tmp/shots").filter((f) => f.endsWith("-chromium.png"))) {
    const base = f.replace("-chromium.png", "");
    const wide = base.includes("1440");
    writeFileSync("/tmp/shots/pair.html", `<body style="margin:0;background:#888;display:flex;gap:8px"><img src="${base}-chromium.png" style="width:${wide ? 1000 : 390}px"><img src="${base}-firefox.png" style="width:${wide ? 1000 : 390}px">`);
    await page.setViewport({ width: wide ? 2008 : 788, height: wide ? 625 : 844 });
    await page.goto("file:///tmp/shots/pair.html");
    await page.screenshot({ path: `/tmp/shots/pair-${base}.png` });
  }
  await browser.close();
} finally { server.kill(); }
