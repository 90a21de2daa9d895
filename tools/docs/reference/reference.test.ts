// The documents' statements about the code are made from the code, or compared with it.
// `npm run test:unit -- reference -u` writes the parts that are made.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { format } from "oxfmt";
import { describe, expect, it } from "vitest";

import { resolveEngineConfig } from "../../../src/api/engine-config.ts";
import { CATALOGUE } from "../../../src/protocol/catalogue.ts";
import { USAGE } from "../../../src/server/command-line.ts";
import { openFakeModel } from "../../../tests/fakes/fake-model.ts";
import { CHAT_CASES, COMPLETION_CASES, CONFIG_CASES } from "../../../tests/requests/field-cases.ts";
import { EXPLANATIONS, TERMS, type Term } from "../../../src/app/ui/explain/explanations.ts";
import { root } from "../../run-command.mjs";
import { catalogueTable } from "./catalogue-table.ts";
import { explanationPart, pictureFile, picturePath } from "./explanation.ts";
import { fieldTable } from "./field-table.ts";
import { withGeneratedParts } from "./generated-parts.ts";
import { kernelTable } from "./kernel-table.ts";
import { metricTable } from "./metric-table.ts";
import { readTypes } from "./read-types.ts";

const read = (path: string) => readFileSync(join(root, path), "utf8");
const sources = ["config", "engine", "errors", "model-source", "openai", "tokenize"].map((name) =>
  read(`src/protocol/${name}.ts`),
);
const types = readTypes([...sources, read("src/client/models-client.ts")]);

const kernels = new Map(
  readdirSync(join(root, "shaders"))
    .filter((name) => name.endsWith(".wgsl"))
    .map((name) => [name.replace(".wgsl", ""), read(`shaders/${name}`)]),
);

function termNamed(name: string): Term {
  const found = TERMS.find((term) => term === name);
  if (found === undefined) throw new Error(`${name} is not explained in the app.`);
  return found;
}

const fake = await openFakeModel();
const metrics = await fake.engine.metrics();
await fake.engine.dispose();

const MAKERS: Readonly<Record<string, (name: string) => string>> = {
  types: (name) => fieldTable(name, types),
  metrics: (name) => metricTable(metrics, name),
  server: () => `\`\`\`\n${USAGE.trim()}\n\`\`\``,
  kernels: () => kernelTable(kernels),
  explanations: (term) => explanationPart(EXPLANATIONS[termNamed(term)], term),
  catalogue: () => catalogueTable(CATALOGUE),
};

/** @param what "the types: EngineConfig" */
function make(what: string): string {
  const [, maker = "", name = ""] = /^the (\w+): (.+)$/.exec(what) ?? [];
  const made = MAKERS[maker]?.(name);
  if (made === undefined) throw new Error(`Nothing is made from ${what}.`);
  return made;
}

const documents = readdirSync(join(root, "docs"))
  .filter((name) => name.endsWith(".md") && read(`docs/${name}`).includes("<!-- made from "))
  .map((name) => `docs/${name}`);

describe("documents", () => {
  it.each(documents)("%s has what the code says now", async (path) => {
    const { code } = await format(path, withGeneratedParts(read(path), make), {
      printWidth: 125,
      proseWrap: "always",
    });
    await expect(code).toMatchFileSnapshot(join(root, path));
  });

  it.each(TERMS)("have the app's picture of %s", async (term) => {
    const picture = pictureFile(EXPLANATIONS[term], read("src/app/ui/tokens.css"));
    await expect(picture).toMatchFileSnapshot(join(root, "docs", picturePath(term)));
    expect(read("docs/how-it-works.md")).toContain(`made from the explanations: ${term} -->`);
  });

  const reference = read("docs/reference.md");
  const shown = [...reference.matchAll(/<!-- made from the types: (\w+) -->/g)].map(([, name = ""]) => name);
  const fields = shown.flatMap((name) => (types.interfaces.get(name) ?? []).map((field) => ({ ...field, of: name })));

  it("tell of every field its purpose, of those that may be left out the default, and of numbers the unit", () => {
    expect(fields.filter(({ words }) => !/^.{10,}\.$/s.test(words))).toEqual([]);
    expect(fields.filter(({ isOptional, defaultText }) => isOptional && !defaultText)).toEqual([]);
    expect(fields.filter(({ type, unit }) => /\bnumber\b/.test(type) && unit === null)).toEqual([]);
  });

  it("give the defaults that an engine has", () => {
    const resolved: object = resolveEngineConfig({}, { maxPositions: 1024, numLayers: 2, numKvHeads: 2, headDim: 64 });
    const literals = fields.filter(
      ({ of, defaultText }) => of === "EngineConfig" && /^(?:"[\w-]+"|\d+|true)$/.test(defaultText ?? ""),
    );
    const reported = literals.map(({ name, defaultText }): [string, unknown] => [name, JSON.parse(defaultText ?? "")]);
    expect(resolved).toMatchObject(Object.fromEntries(reported.filter(([name]) => name !== "backend")));
    expect(reported.length).toBeGreaterThan(10);
  });

  it("leave out no option and no field that is checked", () => {
    const namesIn = (...interfaces: string[]) =>
      fields.filter(({ of }) => interfaces.includes(of)).map(({ name }) => name);
    expect(namesIn("EngineConfig").toSorted()).toEqual(Object.keys(CONFIG_CASES).toSorted());
    expect(namesIn("ChatCompletionRequest", "GenerationFields")).toEqual(
      expect.arrayContaining(Object.keys(CHAT_CASES)),
    );
    expect(namesIn("CompletionRequest", "GenerationFields")).toEqual(
      expect.arrayContaining(Object.keys(COMPLETION_CASES)),
    );
  });

  it("explain every error code, and no other", () => {
    const codes = [...(types.aliases.get("ChorusErrorCode") ?? "").matchAll(/"(\w+)"/g)].map(([, code]) => code);
    const ofHttp = ["src/http", "src/server"].flatMap((folder) =>
      readdirSync(join(root, folder))
        .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
        .flatMap((name) => [...read(`${folder}/${name}`).matchAll(/(?:HttpError|refusal)\(\d+, "(\w+)"/g)])
        .map(([, code]) => code),
    );
    const explained = [...read("docs/troubleshooting.md").matchAll(/^\|(?: +\d+ \|)? `(\w+)` +\|/gm)].map(
      ([, code]) => code,
    );
    expect(codes.length).toBeGreaterThan(20);
    expect(explained.toSorted()).toEqual([...new Set([...codes, ...ofHttp])].toSorted());
  });
});
