// A page with other people's clients, bundled as any web developer would bundle them.

import { readFileSync } from "node:fs";
import { expect } from "playwright/test";
import { build } from "vite";
import { wgslWithoutComments } from "../../tools/plugins/wgsl-plugin.ts";
import { ScriptedServer } from "../../tests/remote/scripted-server.ts";

const TYPES: Readonly<Record<string, string>> = { js: "text/javascript", html: "text/html", wasm: "application/wasm" };

export async function openClientsSite(): Promise<ScriptedServer> {
  const result = await build({
    configFile: false,
    publicDir: false,
    logLevel: "error",
    base: "./",
    plugins: [wgslWithoutComments()],
    worker: { format: "es", plugins: () => [wgslWithoutComments()] },
    build: {
      write: false,
      target: "esnext",
      minify: false,
      rolldownOptions: { input: "tests/clients/browser-clients.ts", output: { entryFileNames: "clients.js" } },
    },
  });
  const [bundle] = [result].flat();
  if (!bundle || !("output" in bundle)) throw new Error("The clients were not bundled.");
  const files = new Map<string, string | Uint8Array>(
    bundle.output.map((file) => [`/${file.fileName}`, file.type === "chunk" ? file.code : file.source]),
  );
  files.set("/", '<!doctype html><link rel="icon" href="data:," /><script type="module" src="clients.js"></script>');
  return ScriptedServer.start(({ path }, response) => {
    const name = /^\/model\/([\w.]+)$/.exec(path)?.[1];
    const body = name === undefined ? files.get(path) : readFileSync(`public/models/chorus-chat/${name}`);
    const type = path === "/" ? "html" : (path.split(".").at(-1) ?? "");
    response.writeHead(body === undefined ? 404 : 200, { "content-type": TYPES[type] ?? "application/octet-stream" });
    response.end(body);
  });
}

/** The results of tests/clients/browser-clients.ts. */
export function expectClientsAgree(found: unknown): void {
  const { texts, ...rest } = found as { texts: Record<string, string> };
  expect(texts["expected"]).toMatch(/\S/);
  expect(new Set(Object.values(texts))).toEqual(new Set([texts["expected"]]));
  expect(rest).toMatchObject({ usage: { outputTokens: 12 }, response: "incomplete", isFree: true });
  expect(rest).toMatchObject({ refused: expect.stringContaining("temperature") });
  const given = { city: expect.stringMatching(/Paris|Oslo/) };
  expect(rest).toMatchObject({ asked: { openai: given, ai: given, langChain: given, agents: given } });
  expect(rest).toMatchObject({ output: { mood: expect.stringMatching(/glad|sad/) } });
}
