// The package as strangers have it: installed from its tarball, built by their bundlers with no settings of ours.

import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { SourceMap, type SourceMapPayload, type SourceMapping } from "node:module";
import { basename, join, resolve } from "node:path";
import { promisify } from "node:util";

import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { build as esbuild } from "esbuild";
import type { Browser, Page } from "playwright";
import { publint } from "publint";
import { build as vite } from "vite";
import { afterAll, beforeAll, expect, it } from "vitest";
import webpack from "webpack";

import { installFolder } from "../../tools/browsers/install-folder.mjs";
import { installPacked } from "../../tools/install-packed.mjs";
import { root } from "../../tools/run-command.mjs";
import { StaticSite } from "../support/static-site.ts";
import { launchChromium, PATIENCE_MS } from "./chromium.ts";

const ANSWER = /Paris.* (?:Lyon|Nice)$/s;
const run = promisify(execFile);

let packed: Awaited<ReturnType<typeof installPacked>>;
let site: StaticSite;
let browser: Browser;
/** The sources of the scratch project. */
let entry: string;

beforeAll(async () => {
  [packed, browser] = await Promise.all([installPacked("bundlers"), launchChromium()]);
  entry = join(packed.folder, "ask.js");
  cpSync(join(root, "e2e/package/ask.js"), entry);
  site = await StaticSite.open(packed.folder);
});

afterAll(async () => {
  await browser?.close();
  await site?.switchOff();
});

/** Opens a page of the scratch project, and returns what it says once it has an answer. */
async function textOf(
  path: string,
  prepare?: (page: Page) => Promise<unknown>,
): Promise<{ text: string; requested: string[] }> {
  const page = await browser.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  await prepare?.(page);
  const requested: string[] = [];
  page.on("request", (request) => requested.push(request.url()));
  try {
    await page.goto(site.url + path);
    // React writes into the body.
    await page.waitForFunction(() => document.title !== "");
    return { text: await page.title(), requested };
  } finally {
    await page.close();
  }
}

/** A page beside a bundle in `folder`. */
function writePage(folder: string, script: string, head = ""): string {
  mkdirSync(join(packed.folder, folder), { recursive: true });
  writeFileSync(join(packed.folder, folder, "index.html"), `<!doctype html><head>${head}</head><body>${script}</body>`);
  return `${folder}/index.html`;
}

it("is of at most 3 MB, unpacked too, with types, workers and licences, without models", () => {
  const { size, unpackedSize, files } = packed.sizes;
  const paths = files.map(({ path }) => path);
  expect(size).toBeLessThan(3e6);
  expect(unpackedSize).toBeLessThan(3e6);
  for (const name of ["chorus.js", "chorus.d.ts", "engine.worker.js", "serve-command.js", "LICENSES.md"]) {
    expect(paths).toContain(`dist/lib/${name}`);
  }
  expect(paths.filter((path) => !/^(?:dist\/lib\/.*|package\.json|README\.md|LICENSE)$/.test(path))).toEqual([]);
});

it("has source maps of its release, which lead from its files to the lines of the sources", async () => {
  const maps = join(root, ".chorus", "maps");
  const words = ["build", "--config", "vite.lib.config.ts", "--sourcemap", "hidden", "--outDir", maps];
  await run(process.execPath, ["node_modules/vite/bin/vite.js", ...words], { cwd: root, timeout: 280_000 });
  const sentence = "WebGPU needs a secure page";
  const lineOf = (text: string) => text.split("\n").findIndex((line) => line.includes(sentence));
  const names = readdirSync(maps).filter((name) => name.endsWith(".js"));
  const read = (name: string) => readFileSync(join(maps, name), "utf8");
  for (const name of names) expect(read(name), name).toBe(readFileSync(join(root, "dist/lib", name), "utf8"));
  const [file = ""] = names.filter((name) => name.startsWith("worker-transport") && read(name).includes(sentence));
  const line = lineOf(read(file));
  const column = read(file).split("\n")[line]?.indexOf(sentence) ?? 0;
  const map = new SourceMap(JSON.parse(read(`${file}.map`)) as SourceMapPayload);
  const { originalSource, originalLine } = map.findEntry(line, column) as SourceMapping;
  expect(originalSource).toMatch(/src\/client\/worker-transport\.ts$/);
  expect(originalLine).toBe(lineOf(readFileSync(join(root, "src/client/worker-transport.ts"), "utf8")));
});

it("is found right by publint and arethetypeswrong", async () => {
  const { messages } = await publint({ pkgDir: join(packed.folder, "node_modules/chorus-llm"), strict: true });
  expect(messages).toEqual([]);
  const analysis = await checkPackage(createPackageFromTarballData(new Uint8Array(readFileSync(packed.tarball))));
  const problems = analysis.types ? analysis.problems : [];
  // A package of ES modules alone: TypeScript's resolutions before those, and require() in old Nodes, can't have it.
  const isOld = (problem: object) =>
    "resolutionKind" in problem && /node10|node16-cjs/.test(String(problem.resolutionKind));
  expect(analysis.types).toBeTruthy();
  expect(problems.filter((problem) => !isOld(problem))).toEqual([]);
});

it("has a package.json that npm has nothing to correct in", async () => {
  const folder = join(packed.folder, "npm-pkg-fix");
  mkdirSync(folder, { recursive: true });
  cpSync(join(root, "package.json"), join(folder, "package.json"));
  await run("npm", ["pkg", "fix"], { cwd: folder, shell: process.platform === "win32" });
  const read = (path: string) => JSON.parse(readFileSync(join(path, "package.json"), "utf8")) as unknown;
  expect(read(folder)).toEqual(read(root));
});

it("has types that a strict project compiles with, without WebGPU's types, from TypeScript 5.4 on", async () => {
  const older = join(root, "tools/typescript-5");
  const { isInstalled, versions } = await installFolder(older, "55 MB");
  expect(isInstalled).toBe(true);
  cpSync(join(root, "e2e/package/consumer.ts"), join(packed.folder, "consumer.ts"));
  const strict = { noEmit: true, strict: true, exactOptionalPropertyTypes: true, target: "esnext", types: [] };
  // The package's types are checked. The compilers' own would take half of the time.
  const compilerOptions = { ...strict, module: "nodenext", lib: ["esnext", "dom"], skipDefaultLibCheck: true };
  writeFileSync(join(packed.folder, "strict.json"), JSON.stringify({ compilerOptions, files: ["consumer.ts"] }));
  const compilers = [
    "node_modules/typescript",
    ...Object.keys(versions).map((name) => `${older}/node_modules/${name}`),
  ];
  const said = compilers.map(async (compiler) => {
    const words = [resolve(root, compiler, "bin/tsc"), "-p", "strict.json"];
    const { stdout } = await run(process.execPath, words, { cwd: packed.folder }).catch(
      (error: { stdout: string }) => error,
    );
    return [compiler, stdout];
  });
  expect(await Promise.all(said)).toEqual(compilers.map((compiler) => [compiler, ""]));
});

it("answers in a build by Vite", async () => {
  const path = writePage("vite", '<script type="module" src="../ask.js"></script>');
  await vite({
    root: join(packed.folder, "vite"),
    configFile: false,
    logLevel: "error",
    base: "./",
    build: { outDir: "out", reportCompressedSize: false },
  });
  const built = path.replace("index", "out/index");
  expect((await textOf(built)).text).toMatch(ANSWER);
  expect((await textOf(`${built}?shared`)).text).toMatch(ANSWER);
});

it("answers in a build by webpack, which has nothing to warn of", async () => {
  const path = writePage("webpack", '<script src="main.js"></script>');
  const said = await new Promise<webpack.Stats | undefined>((resolve, reject) => {
    webpack(
      {
        mode: "production",
        entry,
        context: packed.folder,
        output: { path: join(packed.folder, "webpack") },
        // That takes most of a minute. Sizes are the same for everyone.
        optimization: { minimize: false },
        performance: { hints: false },
      },
      (error, stats) => (error ? reject(error) : resolve(stats)),
    );
  });
  expect(said?.toJson({ all: false, errors: true, warnings: true })).toMatchObject({ errors: [], warnings: [] });
  expect((await textOf(path)).text).toMatch(ANSWER);
});

it("answers in a build by esbuild, whose one file has the workers in it", async () => {
  const path = writePage("esbuild", '<script src="main.js"></script>');
  const outfile = join(packed.folder, "esbuild/main.js");
  const { warnings } = await esbuild({ entryPoints: [entry], bundle: true, outfile, logLevel: "silent" });
  expect(warnings).toEqual([]);
  const { text, requested } = await textOf(path);
  expect(text).toMatch(ANSWER);
  expect(requested.filter((url) => /worker/.test(basename(url)) && !url.startsWith("blob:"))).toEqual([]);
  expect((await textOf(`${path}?shared`)).text).toMatch(ANSWER);
});

it("answers in a build by esbuild into modules, which looks for the workers' files first", async () => {
  const path = writePage("esbuild-modules", '<script type="module" src="ask.js"></script>');
  await esbuild({
    entryPoints: [entry],
    bundle: true,
    format: "esm",
    splitting: true,
    outdir: join(packed.folder, "esbuild-modules"),
    logLevel: "silent",
  });
  const { text, requested } = await textOf(path);
  expect(text).toMatch(ANSWER);
  expect(requested.map((url) => basename(url))).toContain("engine.worker.js");
});

it("answers as a module of another site, whose workers a page may not start", async () => {
  const lib = join(packed.folder, "node_modules/chorus-llm/dist/lib");
  const script = readFileSync(entry, "utf8").replace('"chorus-llm"', '"https://other.test/chorus.js"');
  const path = writePage("elsewhere", '<script type="module" src="ask.js"></script>');
  writeFileSync(join(packed.folder, "elsewhere/ask.js"), script);
  const { text } = await textOf(path, (page) =>
    page.route("https://other.test/**", (route) =>
      route.fulfill({
        path: join(lib, basename(route.request().url())),
        headers: { "Access-Control-Allow-Origin": "*", "Content-Type": "text/javascript" },
      }),
    ),
  );
  expect(text).toMatch(ANSWER);
});

it("answers under the policy that docs/hosting.md gives, and from Blobs under what it adds for them", async () => {
  const hosting = readFileSync(join(root, "docs/hosting.md"), "utf8");
  const [, policy = "", elsewhere = ""] = /```\n(script-src [^\n]+)\n```\n([^]+?)\n\n/.exec(hosting) ?? [];
  const meta = (content: string) =>
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; ${content}" />`;
  const path = writePage("policy", '<script type="module" src="ask.js"></script>', meta(policy));
  const script = readFileSync(entry, "utf8").replace('"chorus-llm"', '"../node_modules/chorus-llm/dist/lib/chorus.js"');
  writeFileSync(join(packed.folder, "policy/ask.js"), script);
  expect((await textOf(path)).text).toMatch(ANSWER);

  expect(elsewhere).toContain("`worker-src blob:`");
  const withBlobs = policy.replace("worker-src", "$& blob:");
  const bundled = writePage("policy-blobs", '<script src="main.js"></script>', meta(withBlobs));
  const outfile = join(packed.folder, "policy-blobs/main.js");
  await esbuild({ entryPoints: [entry], bundle: true, outfile, logLevel: "silent" });
  expect((await textOf(bundled)).text).toMatch(ANSWER);
});

it("has a command that serves", async () => {
  const command = join(packed.folder, "node_modules/.bin/chorus-serve");
  const { stdout } = await run(command, ["--help"], { shell: process.platform === "win32" });
  expect(stdout).toContain("--model");
});

// Next and what it needs are 340 MB, and a build takes a minute: CHORUS_NEXT is a folder where `npm install next react
// react-dom` has been run.
const { CHORUS_NEXT: nextFolder = "" } = process.env;
it.skipIf(!nextFolder)("answers in a build by Next", async () => {
  const project = join(nextFolder, "chorus-next");
  mkdirSync(join(project, "app"), { recursive: true });
  cpSync(join(packed.folder, "node_modules/chorus-llm"), join(project, "node_modules/chorus-llm"), { recursive: true });
  cpSync(entry, join(project, "app/ask.js"));
  writeFileSync(join(project, "package.json"), '{ "private": true, "type": "module" }');
  writeFileSync(
    join(project, "next.config.js"),
    `export default { output: "export", basePath: "/some/where/next" , turbopack: { root: ${JSON.stringify(nextFolder)} } };`,
  );
  writeFileSync(
    join(project, "app/layout.js"),
    "export default ({ children }) => <html><body>{children}</body></html>;",
  );
  writeFileSync(
    join(project, "app/page.js"),
    `"use client";
    import { useEffect } from "react";
    export default function Page() {
      useEffect(() => void import("./ask.js"), []);
    }`,
  );
  await run(process.execPath, [join(nextFolder, "node_modules/next/dist/bin/next"), "build"], {
    cwd: project,
    env: { ...process.env, NEXT_TELEMETRY_DISABLED: "1", NODE_ENV: "production" },
  });
  expect(existsSync(join(project, "out/index.html"))).toBe(true);
  cpSync(join(project, "out"), join(packed.folder, "next"), { recursive: true });
  expect((await textOf("next/index.html")).text).toMatch(ANSWER);
});
