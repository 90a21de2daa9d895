import { parseArgs } from "node:util";

import { nearestName } from "../api/nearest-name.ts";
import { BACKEND_CHOICES, type BackendChoice } from "../index.ts";

export interface ServeOptions {
  /** A folder of this machine, or "owner/name" of the hub. */
  readonly model: string;
  readonly port: number;
  readonly host: string;
  readonly backend: BackendChoice;
  /** The bearer token that requests must have. */
  readonly apiKey: string | null;
  /** The origin whose pages may send requests. */
  readonly cors: string | null;
}

/** An error in the command line. The message is for the person who typed it. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

export const USAGE = `Usage: npm run serve -- --model NAME_OR_FOLDER [options]
   or: chorus-serve --model NAME_OR_FOLDER [options]

Serves a model to any client of OpenAI's API.

  --model NAME_OR_FOLDER  a folder in Hugging Face layout, or a model of the hub ("owner/name")
  --port NUMBER           where to listen; 0 takes any free port [8000]
  --host ADDRESS          who can reach it: 127.0.0.1 this machine alone, 0.0.0.0 everybody [127.0.0.1]
  --backend NAME          auto, webgpu or cpu [auto]
  --api-key KEY           requests must bring this key (or set CHORUS_API_KEY) [none]
  --cors ORIGIN           pages of this origin may ask, such as https://app.example, or * for all [none]
  --allow-anyone          listens beyond this machine without a key
  --help                  this text
`;

const VALUES = ["model", "port", "host", "backend", "api-key", "cors"] as const;
const SWITCHES = ["allow-anyone", "help"] as const;
const OPTIONS = Object.fromEntries([
  ...VALUES.map((name) => [name, { type: "string" }] as const),
  ...SWITCHES.map((name) => [name, { type: "boolean" }] as const),
]);

/** Returns the options; "help" if requested. @throws UsageError */
export function parseCommandLine(words: readonly string[], env: Readonly<NodeJS.ProcessEnv>): ServeOptions | "help" {
  const { values, switches } = readWords(words);
  if (switches.has("help")) return "help";
  const model = values.get("model");
  if (model === undefined) throw new UsageError("Which model? Give --model NAME_OR_FOLDER.");
  const host = values.get("host") ?? "127.0.0.1";
  const apiKey = values.get("api-key") ?? env["CHORUS_API_KEY"] ?? null;
  if (apiKey === "") throw new UsageError("The key is empty. Give one, or leave out --api-key.");
  if (!isLoopback(host) && apiKey === null && !switches.has("allow-anyone")) {
    throw new UsageError(
      `On ${host}, anyone who reaches this machine could use the model. ` +
        "Give --api-key KEY, or --allow-anyone if that is meant.",
    );
  }
  return { model, host, apiKey, port: parsePort(values), backend: parseBackend(values), cors: parseOrigin(values) };
}

export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(?:\.\d{1,3}){3}$/.test(host);
}

function readWords(words: readonly string[]) {
  const values = new Map<string, string>();
  const switches = new Set<string>();
  // Not strict: its errors don't name the nearest option.
  for (const token of parseArgs({ args: [...words], options: OPTIONS, strict: false, tokens: true }).tokens) {
    if (token.kind !== "option") {
      const word = token.kind === "positional" ? token.value : "--";
      throw new UsageError(`"${word}" belongs to no option. See --help.`);
    }
    const { name, rawName, value, inlineValue } = token;
    if (isOneOf(SWITCHES, name)) {
      if (value !== undefined) throw new UsageError(`--${name} takes no value.`);
      switches.add(name);
    } else if (isOneOf(VALUES, name)) {
      if (value === undefined || (!inlineValue && value.startsWith("--")))
        throw new UsageError(`--${name} needs a value. See --help.`);
      if (values.has(name)) throw new UsageError(`--${name} is given twice.`);
      values.set(name, value);
    } else {
      const known = [...VALUES, ...SWITCHES];
      const near = nearestName(name, known) ?? known.find((one) => one.startsWith(name.slice(0, 3)));
      throw new UsageError(`There is no option ${rawName}. ${near ? `Did you mean --${near}?` : "See --help."}`);
    }
  }
  return { values, switches };
}

function isOneOf<Name extends string>(names: readonly Name[], name: string): name is Name {
  return names.some((one) => one === name);
}

function parsePort(values: ReadonlyMap<string, string>): number {
  const text = values.get("port") ?? "8000";
  const port = Number(text);
  if (/^\d+$/.test(text) && port < 65_536) return port;
  throw new UsageError(`--port must be a number from 0 to 65535, not "${text}".`);
}

function parseBackend(values: ReadonlyMap<string, string>): ServeOptions["backend"] {
  const name = values.get("backend") ?? "auto";
  if (isOneOf(BACKEND_CHOICES, name)) return name;
  throw new UsageError(`--backend must be one of ${BACKEND_CHOICES.join(", ")}, not "${name}".`);
}

function parseOrigin(values: ReadonlyMap<string, string>): string | null {
  const text = values.get("cors");
  if (text === undefined || text === "*") return text ?? null;
  const origin = URL.canParse(text) ? new URL(text).origin : "null";
  if (origin !== "null" && (text === origin || text === `${origin}/`)) return origin;
  throw new UsageError(`--cors must be an origin such as https://app.example, or *, not "${text}".`);
}
