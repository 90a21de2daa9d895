// Every field, with every kind of value: what is out of range, unknown or of the wrong type is refused by its name.

import { describe, expect, test } from "vitest";
import { ChorusError } from "../protocol/errors.ts";
import type { FieldCase } from "../../tests/requests/field-case.ts";
import {
  ALERT_CASES,
  CHAT_CASES,
  COMPLETION_CASES,
  CONFIG_CASES,
  refusalsOf,
} from "../../tests/requests/field-cases.ts";
import { loadChorusTokenizer, requestContext } from "../../tests/requests/request-context.ts";
import { parseChatRequest } from "./chat-request.ts";
import { parseCompletionRequest } from "./completion-request.ts";
import { resolveEngineConfig } from "./engine-config.ts";

const tokenizer = await loadChorusTokenizer();
const model = { maxPositions: 256, numLayers: 4, numKvHeads: 4, headDim: 64 };
const messages = [{ role: "user", content: "Hi" }];

const parseChat = (change: object) => parseChatRequest({ messages, ...change }, requestContext(tokenizer));
const parseCompletion = (change: object) =>
  parseCompletionRequest({ prompt: "Hi", ...change }, requestContext(tokenizer));
const resolve = (config: object) => resolveEngineConfig(config, model);

type Row = [body: string, name: string, parse: (change: object) => unknown, param: string, field: FieldCase];

function rows(body: string, cases: object, parse: Row[2], prefix = ""): Row[] {
  return Object.entries(cases as Record<string, FieldCase>).map(([name, field]) => [
    body,
    name,
    parse,
    `${prefix}${name}`,
    field,
  ]);
}

const everyField = [
  ...rows("the config", CONFIG_CASES, resolve),
  ...rows("the config's alerts", ALERT_CASES, (alerts) => resolve({ alerts }), "alerts."),
  ...rows("a chat request", CHAT_CASES, parseChat),
  ...rows("a completion request", COMPLETION_CASES, parseCompletion),
];

/** Code and field of the ChorusError that it throws; anything else is returned as it is. */
function refusalBy(attempt: () => unknown): unknown {
  try {
    return { accepted: attempt() };
  } catch (error) {
    if (!(error instanceof ChorusError)) throw error;
    const { code, param, message } = error;
    // Whoever sends a book doesn't get it back.
    return { code, param, isBrief: message.length < 1000 };
  }
}

describe.each(everyField)("%s: %s", (_, name, parse, param, field) => {
  test("accepts what lies just within its borders", () => {
    for (const value of [...field.accepted, null, undefined]) {
      if ((name === "messages" || name === "prompt") && (value ?? null) === null) continue;
      expect(() => parse({ [name]: value })).not.toThrow();
    }
  });

  test("refuses everything else by name", () => {
    const refusals = refusalsOf(param, field);
    expect(refusals.length).toBeGreaterThan(20);
    for (const { value, code, param: blamed } of refusals) {
      const copy: object = structuredClone({ [name]: value });
      expect(refusalBy(() => parse(copy))).toEqual({ code, param: blamed, isBrief: true });
    }
  });

  test("refuses a name that is nearly its own", () => {
    const misspelt = `${name}_`;
    const unknown = { code: "unknown_parameter", param: `${param}_`, isBrief: true };
    expect(refusalBy(() => parse({ [misspelt]: 1 }))).toEqual(unknown);
  });
});

test.each([
  ["messages", () => parseChatRequest({}, requestContext(tokenizer))],
  ["prompt", () => parseCompletionRequest({}, requestContext(tokenizer))],
])("%s must be there", (param, attempt) => {
  expect(refusalBy(attempt)).toEqual({ code: "missing_required_parameter", param, isBrief: true });
});
