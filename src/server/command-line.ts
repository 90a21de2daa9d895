// The command line of the server: its own options, and a field each of the config, with the same name in kebab case. Each can also
// be in a JSON file, or in the environment. The command line counts before the environment, and that before the file.

import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";

import { nearestName } from "../api/nearest-name.ts";
import { ALERT_FIELDS, CONFIG_FIELDS, DRAFT_FIELDS, parseJson, type ConfigField, type EngineConfig } from "../index.ts";

export interface ServeOptions {
  /** A folder of this machine, or a model of the hub. */
  readonly model: string;
  /** The hub's branch, tag or commit; null: as the model's address says, else "main". */
  readonly revision: string | null;
  readonly port: number;
  readonly host: string;
  /** The bearer token that requests must have. */
  readonly apiKey: string | null;
  /** The origin whose pages may send requests. */
  readonly cors: string | null;
  /** Names of the model for clients; none: its own. */
  readonly names: readonly string[];
  readonly logRequests: boolean;
  readonly config: EngineConfig;
}

/** An error in the command line. The message is for the person who typed it. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

type Field = ConfigField | { readonly kind: "text" };

/** An option's field, and what --help says of it. */
type Option = readonly [field: Field, valueName: string, about: string];

const TEXT = { kind: "text" } as const;
const FLAG = { kind: "flag" } as const;

const OWN = {
  model: [
    TEXT,
    "NAME_OR_FOLDER",
    'a folder in Hugging Face layout, or a model of the hub ("owner/name", or its address)',
  ],
  revision: [TEXT, "NAME", "the hub's branch, tag or commit [main]"],
  "served-model-name": [TEXT, "NAME...", "the model's names for clients [its own]"],
  config: [TEXT, "FILE", 'a JSON file with any of these: {"model": "owner/name", "maxNumSeqs": 8} [none]'],
  port: [{ kind: "integer", min: 0, max: 65_535 }, "NUMBER", "where to listen; 0 takes any free port [8000]"],
  host: [TEXT, "ADDRESS", "who can reach it: 127.0.0.1 this machine alone, 0.0.0.0 everybody [127.0.0.1]"],
  "api-key": [TEXT, "KEY", "requests must bring this key [none]"],
  cors: [TEXT, "ORIGIN", "pages of this origin may ask, such as https://app.example, or * for all [none]"],
  "allow-anyone": [FLAG, "", "listens beyond this machine without a key"],
  "log-requests": [FLAG, "", "prints a line for each request: its path, the answer's status, the time until it began"],
  version: [FLAG, "", "prints the version"],
  help: [FLAG, "", "this text"],
} as const satisfies Readonly<Record<string, Option>>;

/** Fields of the config that have fields of their own. */
const NESTED: Readonly<Record<string, Readonly<Record<string, Field>>>> = {
  speculation: { method: { kind: "choice", choices: ["ngram", "draft_model"] }, model: TEXT, ...DRAFT_FIELDS },
  alerts: ALERT_FIELDS,
};

/** "maxNumSeqs" and "max_num_seqs" become "max-num-seqs". */
const kebab = (name: string) => name.replaceAll("_", "-").replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

interface Place {
  readonly path: readonly string[];
  readonly field: Field;
}

/** Where the value of an option belongs in the config, by the option's name. */
const PLACES: ReadonlyMap<string, Place> = new Map(
  Object.entries(CONFIG_FIELDS).flatMap(([name, field]: [string, Field]): [string, Place][] => [
    [kebab(name), { path: [name], field }],
    ...Object.entries(NESTED[name] ?? {}).map(([inner, own]): [string, Place] => [
      `${kebab(name)}-${kebab(inner)}`,
      { path: [name, inner], field: own },
    ]),
  ]),
);

const FIELDS: ReadonlyMap<string, Field> = new Map([
  ...Object.entries(OWN).map(([name, [field]]): [string, Field] => [name, field]),
  ...[...PLACES].map(([name, { field }]): [string, Field] => [name, field]),
]);

export const USAGE = `Usage: npm run serve -- --model NAME_OR_FOLDER [options]
   or: chorus-serve --model NAME_OR_FOLDER [options]

Serves a model to any client of OpenAI's API.

${table(Object.entries(OWN).map(([name, [, value, about]]) => [`--${name} ${value}`.trimEnd(), about]))}

The fields of createEngine's config; docs/reference.md says what they do:

${table([...PLACES].map(([name, { field }]) => [`--${name}`, `${expected(field)}${defaultOf(field)}`]))}

Each can be set in the environment, too: --max-num-seqs as CHORUS_MAX_NUM_SEQS.
`;

/** Returns the options, or what is asked for instead. @throws UsageError */
export function parseCommandLine(
  words: readonly string[],
  env: Readonly<NodeJS.ProcessEnv>,
): ServeOptions | "help" | "version" {
  const typed = readWords(words);
  if (typed.has("help")) return "help";
  if (typed.has("version")) return "version";
  const given = new Map([...readEnvironment(env), ...typed]);
  const file = given.get("config")?.value;
  const values = new Map(typeof file === "string" ? [...readConfigFile(file), ...given] : given);
  const own = (name: keyof typeof OWN) => {
    const one = values.get(name);
    return one === undefined ? null : valueOf(one.source, OWN[name][0], one.value);
  };
  const text = (name: keyof typeof OWN) => own(name) as string | null;
  const model = text("model");
  if (model === null) throw new UsageError("Which model? Give --model NAME_OR_FOLDER.");
  const host = text("host") ?? "127.0.0.1";
  const apiKey = text("api-key");
  if (apiKey === "") throw new UsageError(`The key is empty. Give one, or leave out ${values.get("api-key")?.source}.`);
  if (!isLoopback(host) && apiKey === null && own("allow-anyone") !== true) {
    throw new UsageError(
      `On ${host}, anyone who reaches this machine could use the model. ` +
        "Give --api-key KEY, or --allow-anyone if that is meant.",
    );
  }
  const names = values.get("served-model-name");
  return {
    model,
    revision: text("revision"),
    host,
    apiKey,
    port: (own("port") as number | null) ?? 8000,
    cors: parseOrigin(text("cors"), values.get("cors")?.source),
    names: [names?.value ?? []].flat().map((name) => valueOf(names?.source ?? "", TEXT, name) as string),
    logRequests: own("log-requests") === true,
    config: configOf(values),
  };
}

export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/** What an option is set to, and by what: "--port", "CHORUS_PORT" or a file's field. */
interface Given {
  readonly value: unknown;
  readonly source: string;
}

function readWords(words: readonly string[]): Map<string, Given> {
  const values = new Map<string, Given>();
  const addName = (name: string) => {
    const source = "--served-model-name";
    values.set("served-model-name", { source, value: [values.get("served-model-name")?.value ?? [], name].flat() });
  };
  let last = "";
  const options = Object.fromEntries(
    [...FIELDS].map(([name, { kind }]) => [name, { type: kind === "flag" ? "boolean" : "string" } as const]),
  );
  // Not strict: its errors don't name the nearest option.
  for (const token of parseArgs({ args: [...words], options, strict: false, tokens: true }).tokens) {
    if (token.kind === "positional" && last === "served-model-name") {
      addName(token.value); // vLLM's takes several
      continue;
    }
    if (token.kind !== "option") {
      const word = token.kind === "positional" ? token.value : "--";
      throw new UsageError(`"${word}" belongs to no option. See --help.`);
    }
    const { name, rawName, value, inlineValue } = token;
    const field = FIELDS.get(name);
    if (!field) throw unknownOption(rawName, name);
    const isFlag = field.kind === "flag";
    if (isFlag && value !== undefined && Object.hasOwn(OWN, name)) throw new UsageError(`--${name} takes no value.`);
    if (!isFlag && (value === undefined || (!inlineValue && value.startsWith("--"))))
      throw new UsageError(`--${name} needs a value. See --help.`);
    last = name;
    if (name === "served-model-name") addName(value ?? "");
    else if (values.has(name)) throw new UsageError(`--${name} is given twice.`);
    else values.set(name, { value: value ?? true, source: `--${name}` });
  }
  return values;
}

function unknownOption(rawName: string, name: string): UsageError {
  const known = [...FIELDS.keys()];
  const near = nearestName(name, known) ?? known.find((one) => one.startsWith(name.slice(0, 3)));
  return new UsageError(`There is no option ${rawName}. ${near ? `Did you mean --${near}?` : "See --help."}`);
}

function readEnvironment(env: Readonly<NodeJS.ProcessEnv>): [string, Given][] {
  return [...FIELDS.keys()].flatMap((name) => {
    const source = `CHORUS_${name.toUpperCase().replaceAll("-", "_")}`;
    const value = env[source];
    // Kubernetes sets this one beside a service called "chorus".
    if (value === undefined || (name === "port" && value.startsWith("tcp://"))) return [];
    return [[name, { source, value: name === "served-model-name" ? value.split(",") : value }]];
  });
}

function readConfigFile(path: string): [string, Given][] {
  const wrong = (why: string) => new UsageError(`--config: ${path} ${why}`);
  let text = "";
  try {
    text = readFileSync(path, "utf8");
  } catch {
    throw wrong("can't be read.");
  }
  return Object.entries(objectIn(text, (why) => wrong(`must hold a JSON object${why}`))).map(([name, value]) => {
    const option = kebab(name);
    if (!FIELDS.has(option) || option === "config") throw wrong(`has the field ${name}, which is no option.`);
    return [option, { value, source: `${name} in ${path}` }];
  });
}

/** Returns the engine's fields. What --alerts names as a whole, options such as --alerts-queue-length change. */
function configOf(values: ReadonlyMap<string, Given>): EngineConfig {
  const config: Record<string, unknown> = {};
  for (const [option, { path, field }] of PLACES) {
    const given = values.get(option);
    const [name = "", inner] = path;
    if (given === undefined) continue;
    const value = valueOf(given.source, field, given.value);
    config[name] = inner === undefined ? value : { ...(config[name] as object | null), [inner]: value };
  }
  return config;
}

/** Returns an option's value: text from a command line or the environment, anything from a file. @throws UsageError */
function valueOf(source: string, field: Field, given: unknown): unknown {
  if (field.kind !== "text" && (given === null || given === "null")) return null;
  const value = readValue(source, field, given);
  if (value !== undefined) return value;
  throw new UsageError(`${source} must be ${expected(field)}, not ${JSON.stringify(given)}.`);
}

const PLAIN_NUMBERS = { integer: /^-?\d+$/, number: /^-?\d*\.?\d+(?:e-?\d+)?$/i };

/** Returns undefined for a wrong value. @throws UsageError for a field of an object */
function readValue(source: string, field: Field, given: unknown): unknown {
  switch (field.kind) {
    case "text":
      return typeof given === "string" ? given : undefined;
    case "choice":
      return field.choices.find((one) => one === given);
    case "flag":
      return [true, false].find((flag) => given === flag || given === String(flag));
    case "integer":
    case "number": {
      const { min, max, above = false, kind } = field;
      const value = typeof given === "string" && PLAIN_NUMBERS[kind].test(given) ? Number(given) : given;
      if (typeof value !== "number" || !(kind === "integer" ? Number.isInteger : Number.isFinite)(value))
        return undefined;
      return value < min || value > max || (above && value === min) ? undefined : value;
    }
    case "speculation":
    case "alerts": {
      const object = objectIn(given, (why) => new UsageError(`${source} must be a JSON object${why}`));
      return Object.fromEntries(
        Object.entries(object).map(([name, value]) => {
          const own = NESTED[field.kind]?.[name];
          if (!own) throw new UsageError(`${source} has no field "${name}".`);
          return [name, valueOf(`${source}: ${name}`, own, value)];
        }),
      );
    }
  }
}

function objectIn(given: unknown, wrong: (why: string) => UsageError): object {
  let value = given;
  try {
    if (typeof given === "string") value = parseJson(given);
  } catch (error) {
    throw wrong(`: ${(error as Error).message}`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw wrong(".");
  return value;
}

function parseOrigin(text: string | null, source = ""): string | null {
  if (text === null || text === "*") return text;
  const origin = URL.canParse(text) ? new URL(text).origin : "null";
  if (origin !== "null" && (text === origin || text === `${origin}/`)) return origin;
  throw new UsageError(`${source} must be an origin such as https://app.example, or *, not "${text}".`);
}

function expected(field: Field): string {
  if ("min" in field) {
    const { kind, min, max, above = false } = field;
    const most = max === Number.MAX_SAFE_INTEGER ? "" : ` to ${max}`;
    return `${kind === "integer" ? "a whole number" : "a number"} ${above ? "above" : "from"} ${min}${most}`;
  }
  if ("choices" in field) return `one of ${field.choices.join(", ")}`;
  if (field.kind === "text") return "a text";
  return field.kind === "flag" ? "true or false (with =)" : "a JSON object of the fields below it";
}

function defaultOf(field: Field): string {
  const value = "default" in field ? field.default : undefined;
  return value === undefined || value === null ? "" : ` [${value}]`;
}

function table(rows: readonly (readonly [option: string, about: string])[]): string {
  const width = Math.max(...rows.map(([option]) => option.length));
  return rows.map(([option, about]) => `  ${option.padEnd(width)}  ${about}`).join("\n");
}
