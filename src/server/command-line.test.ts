import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { ALERT_FIELDS, CONFIG_FIELDS, DRAFT_FIELDS, type ConfigField } from "../protocol/config.ts";

import { parseCommandLine } from "./command-line.ts";

const parse = (line: string, env = {}) => parseCommandLine(line.split(" "), env);

describe("a command line", () => {
  it("says what to serve, and where", () => {
    expect(parse("--model a/b")).toEqual({
      model: "a/b",
      revision: null,
      port: 8000,
      host: "127.0.0.1",
      apiKey: null,
      cors: null,
      names: [],
      logRequests: false,
      config: {},
    });
    const all = parse("--model=x=y --port 0 --host 0.0.0.0 --backend cpu --api-key k --cors https://app.example/");
    expect(all).toEqual({
      model: "x=y",
      revision: null,
      port: 0,
      host: "0.0.0.0",
      apiKey: "k",
      cors: "https://app.example",
      names: [],
      logRequests: false,
      config: { backend: "cpu" },
    });
    expect(parse("--model x --host 0.0.0.0", { CHORUS_API_KEY: "k" })).toMatchObject({ apiKey: "k" });
    expect(parse("--model x --host :: --allow-anyone")).toMatchObject({ host: "::", apiKey: null });
    expect(parse("--model x --cors *")).toMatchObject({ cors: "*" });
    expect(parse("--model x --revision v1 --log-requests --served-model-name a --served-model-name b/c")).toMatchObject(
      {
        revision: "v1",
        logRequests: true,
        names: ["a", "b/c"],
      },
    );
    expect(parse("--model x --served-model-name a b --served-model-name c --port 1")).toMatchObject({
      names: ["a", "b", "c"],
      port: 1,
    });
    expect(parse("--model x", { CHORUS_SERVED_MODEL_NAME: "a,b", CHORUS_PORT: "tcp://10.0.0.1:8000" })).toMatchObject({
      names: ["a", "b"],
      port: 8000,
    });
    expect([parse("--help"), parse("--version")]).toEqual(["help", "version"]);
  });

  it.each([
    ["--port 1", /--model/],
    ["model", /belongs to no option/],
    ["--modle x", /Did you mean --model\?/],
    ["--backnd cpu", /Did you mean --backend\?/],
    ["--prot 1", /Did you mean --port\?/],
    ["--zzz", /See --help/],
    ["-p 1", /no option -p/],
    ["--served-model-name a --port 1 b", /"b" belongs to no option/],
    ["-- --model x", /"--" belongs to no option/],
    ["--model", /needs a value/],
    ["--model --port 1", /--model needs a value/],
    ["--model a --model b", /twice/],
    ["--help=yes", /takes no value/],
    ["--model a --port 65536", /0 to 65535/],
    ["--model a --port 1e3", /0 to 65535/],
    ["--model a --backend gpu", /one of auto, webgpu, cpu/],
    ["--model a --cors app.example", /an origin/],
    ["--model a --cors https://app.example/path", /an origin/],
    ["--model a --max-num-seqs many", /a whole number from 1 to 1024, not "many"/],
    ["--model a --enable-prefix-caching=maybe", /true or false/],
    ["--model a --alerts {", /a JSON object: /],
    ["--model a --alerts []", /a JSON object\./],
    ['--model a --alerts {"queue":1}', /no field "queue"/],
    ['--model a --alerts {"queueLength":"many"}', /^--alerts: queueLength must be/],
    ["--model a --speculation-method magic", /ngram, draft_model/],
    ["--model a --config nowhere.json", /nowhere\.json can't be read/],
    ["--model a --api-key=", /empty/],
    ["--model a --host 0.0.0.0", /--allow-anyone/],
    ["--model a --host 127.evil.example", /--allow-anyone/],
  ])("that is wrong is refused: %s", (line, message) => {
    expect(() => parse(line)).toThrow(
      expect.objectContaining({ name: "UsageError", message: expect.stringMatching(message) }),
    );
  });
});

const kebab = (name: string) => name.replaceAll("_", "-").replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** Its smallest and its largest value, or all of its values. */
function bordersOf(field: ConfigField): readonly unknown[] {
  if ("min" in field) return [field.above ? Number.MIN_VALUE : field.min, field.max];
  if ("choices" in field) return field.choices;
  return field.kind === "flag" ? [true, false] : [];
}

const FIELDS: readonly (readonly [option: string, path: readonly string[], field: ConfigField])[] = [
  ...Object.entries(CONFIG_FIELDS).map(([name, field]) => [kebab(name), [name], field] as const),
  ...Object.entries(ALERT_FIELDS).map(([name, field]) => [`alerts-${kebab(name)}`, ["alerts", name], field] as const),
  ...Object.entries(DRAFT_FIELDS).map(
    ([name, field]) => [`speculation-${kebab(name)}`, ["speculation", name], field] as const,
  ),
];

const nested = ([outer = "", inner]: readonly string[], value: unknown) => ({
  [outer]: inner === undefined ? value : { [inner]: value },
});

describe("a field of the config", () => {
  it.each(FIELDS)("--%s has its borders from the command line, the environment and a file", (option, path, field) => {
    const folder = mkdtempSync(join(tmpdir(), "chorus-config-"));
    for (const value of bordersOf(field)) {
      const wanted = { config: nested(path, value) };
      expect(parse(`--model a --${option}=${String(value)}`)).toMatchObject(wanted);
      const name = `CHORUS_${option.toUpperCase().replaceAll("-", "_")}`;
      expect(parse("--model a", { [name]: String(value) })).toMatchObject(wanted);
      const file = join(folder, "serve.json");
      writeFileSync(file, JSON.stringify({ model: "a", ...nested(path, value) }));
      expect(parse(`--config ${file}`)).toMatchObject({ model: "a", ...wanted });
    }
    rmSync(folder, { recursive: true });
    if (!("min" in field)) return;
    for (const value of [field.above ? field.min : field.min - 1, "x", "", "1,5", "0x1"]) {
      expect(() => parse(`--model a --${option}=${value}`)).toThrow(`--${option} must be`);
    }
  });

  it("with fields of its own is JSON, or an option for each", () => {
    const config = { alerts: { queueLength: 5, itlMs: null }, speculation: { method: "ngram", minMatch: 2 } };
    expect(parse('--model a --alerts {"queueLength":9,"itlMs":null} --alerts-queue-length 5')).toMatchObject({
      config: { alerts: config.alerts },
    });
    expect(parse("--model a --speculation-method ngram --speculation-min-match 2")).toMatchObject({
      config: { speculation: config.speculation },
    });
  });

  it("counts from the command line, then the environment, then the file", () => {
    const folder = mkdtempSync(join(tmpdir(), "chorus-config-"));
    const file = join(folder, "serve.json");
    writeFileSync(file, JSON.stringify({ model: "a", port: 1, maxNumSeqs: 1, runAhead: 1 }));
    const env = { CHORUS_CONFIG: file, CHORUS_PORT: "2", CHORUS_MAX_NUM_SEQS: "2" };
    expect(parse("--port 3", env)).toMatchObject({ model: "a", port: 3, config: { maxNumSeqs: 2, runAhead: 1 } });
    expect(() => parse("--model a", { ...env, CHORUS_PORT: "many" })).toThrow("CHORUS_PORT must be a whole number");
    expect(() => parse("--model a", { CHORUS_API_KEY: "" })).toThrow("leave out CHORUS_API_KEY");
    writeFileSync(file, JSON.stringify({ model: "a", maxNumSeqs: "many" }));
    expect(() => parse(`--config ${file}`)).toThrow(`maxNumSeqs in ${file} must be a whole number`);
    writeFileSync(file, JSON.stringify({ modle: "a" }));
    expect(() => parse("--port 3", env)).toThrow("has the field modle, which is no option");
    rmSync(folder, { recursive: true });
  });
});
