// The programs in the documents: each has the built library's types, and runs in plain Node. Their models come from a host on
// this machine, and requests to a server go to one that is started for them.

import { execFile, spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";

import { ModelServer } from "../tests/fakes/model-server.ts";
import { commandsOf, readSamples } from "../tools/docs/samples/read-samples.ts";

const run = promisify(execFile);

/** Programs that can't run here, by words in them, and why. Their types are checked all the same. */
const NOT_RUN: Readonly<Record<string, string>> = {
  "models.download(": "downloads from the hub into a browser's storage",
};

const MODEL = "models/chorus-chat/";
const { name } = JSON.parse(readFileSync("package.json", "utf8")) as { name: string };
const PACKAGE_NAME = new RegExp(`from "${name}(?:/([\\w-]+))?"`, "g");
const folder = resolve(".chorus", `samples-${process.pid}`);
const samples = readSamples();
const programs = samples
  .filter(({ language }) => language === "js" || language === "ts")
  .map(({ place, code, language }) => {
    const usesEngine = /\bengine\b/.test(code) && !/\bconst engine\b/.test(code);
    return {
      place,
      file: join(folder, `${place.replaceAll(/\W/g, "-")}.${language}`),
      // One that makes no engine has one. By the package's name it is the same library.
      module: `${usesEngine ? 'import { engine } from "./lib/chorus.js";\n' : ""}${code}\nexport {};\n`.replaceAll(
        PACKAGE_NAME,
        (_, part = "chorus") => `from "./lib/${part}.js"`,
      ),
      isRun: !Object.keys(NOT_RUN).some((words) => code.includes(words)),
    };
  });

/** The library beside the samples: what dist/lib/ has, but an engine runs in place, on the CPU. */
function writeLibrary(modelUrl: string): void {
  const built = (name: string) => JSON.stringify(resolve("dist/lib", name));
  const write = (name: string, lines: readonly string[]) => writeFileSync(join(folder, "lib", name), lines.join("\n"));
  write("chorus.js", [
    `import { createEngine as create } from ${built("chorus.js")};`,
    `export * from ${built("chorus.js")};`,
    'import { existsSync } from "node:fs";',
    'const isAddress = (model) => typeof model === "string" && !existsSync(model);',
    `const absolute = (model) => (isAddress(model) ? new URL(model, ${JSON.stringify(modelUrl)}).href : model);`,
    `const here = { worker: false, backend: "cpu", cpuThreads: 1 };`,
    "export const createEngine = ({ model, ...options }) => create({ ...options, model: absolute(model), ...here });",
    `export const engine = await createEngine({ model: "/${MODEL}" });`,
  ]);
  write("chorus.d.ts", [
    `import type { ChorusEngine } from ${built("chorus.d.ts")};`,
    `export * from ${built("chorus.d.ts")};`,
    "export declare const engine: ChorusEngine;",
  ]);
  for (const file of ["language-model.js", "language-model.d.ts"]) write(file, [`export * from ${built(file)};`]);
}

let host: ModelServer;
beforeAll(async () => {
  host = await ModelServer.start();
  for (const name of readdirSync(`public/${MODEL}`))
    host.files.set(MODEL + name, readFileSync(`public/${MODEL}${name}`));
  mkdirSync(join(folder, "lib"), { recursive: true });
  writeLibrary(host.url);
  for (const { file, module } of programs) writeFileSync(file, module);
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await host.close();
});

it("programs in the documents have the library's types", async () => {
  const compilerOptions = {
    // As in an editor of a plain JavaScript project: names and types are checked, null is not.
    strict: false,
    noUncheckedIndexedAccess: false,
    exactOptionalPropertyTypes: false,
    noUnusedLocals: false,
    noUnusedParameters: false,
    types: ["@webgpu/types", "node"],
  };
  const include = ["*.js", "*.ts"];
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({ extends: resolve("tsconfig.json"), compilerOptions, include }),
  );
  expect(programs.length).toBeGreaterThan(10);
  const { stdout } = await run(process.execPath, ["node_modules/typescript/bin/tsc", "-p", folder]).catch(
    (error: { stdout: string }) => error,
  );
  expect(stdout).toBe("");
});

it("programs in the documents run, and each shows something", async () => {
  const files = programs.filter(({ isRun }) => isRun).map(({ file }) => file);
  expect(programs.length - files.length).toBe(Object.keys(NOT_RUN).length);
  const { stdout } = await run(process.execPath, [
    "e2e/support/node-samples.mjs",
    join(folder, "lib/chorus.js"),
    ...files,
  ]);
  const found = JSON.parse(stdout) as Record<string, { readonly numLines: number; readonly error: string | null }>;
  expect(Object.keys(found)).toEqual(files);
  for (const [file, { numLines, error }] of Object.entries(found)) {
    expect(error, file).toBe(null);
    expect(numLines, file).toBeGreaterThan(0);
  }
});

it("requests to a server in the documents are answered", async () => {
  const requests = samples.flatMap(commandsOf).filter((line) => line.startsWith("curl "));
  expect(requests.length).toBeGreaterThan(0);
  const words = ["dist/lib/serve-command.js", "--model", `public/${MODEL}`, "--port", "0", "--backend", "cpu"];
  const server = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "inherit"] });
  let printed = "";
  server.stdout.on("data", (bytes) => (printed += String(bytes)));
  try {
    await expect.poll(() => printed).toMatch(/Serving at \S+\/v1\s/);
    const url = /Serving at (\S+)\/v1/.exec(printed)?.[1] ?? "";
    for (const line of requests) {
      const [, path = ""] = /127\.0\.0\.1:8000(\S+)/.exec(line) ?? [];
      const [, name = "", value = ""] = /-H "([\w-]+): ([^"]*)"/.exec(line) ?? [];
      const [, body = ""] = /-d '([^']*)'/.exec(line) ?? [];
      const response = await fetch(url + path, { method: "POST", headers: { [name]: value }, body });
      expect([response.status, await response.json()]).toEqual([
        200,
        expect.objectContaining({ choices: [expect.anything()] }),
      ]);
    }
  } finally {
    server.kill();
  }
});
