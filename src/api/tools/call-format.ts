// How models write calls of functions. A format is a row of texts around a call's name and arguments, which are JSON or spelled
// otherwise.

import type { Spelling } from "../../grammar/spelling.ts";

/** The texts of an answer with calls: open, then head NAME mid ARGUMENTS tail, `between` calls, and close. */
export interface CallFormat {
  readonly name: string;
  /** Words in the texts that are one token each, where the model's vocabulary has them. */
  readonly markers: readonly string[];
  readonly open: string;
  readonly head: string;
  readonly mid: string;
  readonly tail: string;
  readonly between: string;
  readonly close: string;
  /**
   * Which other answers there are: any text before the calls; instead of them any text that does not begin as they do; or
   * instead of them a text as JSON, between these texts.
   */
  readonly content: "before" | "instead" | readonly [before: string, after: string];
  /** How arguments are written. [as JSON] */
  readonly spelling?: Spelling;
  /** The model's template takes one call an answer. */
  readonly isSingle?: true;
  /** Characters of the ids that the template takes. */
  readonly idLength?: number;
}

const CALL = {
  markers: [],
  open: "",
  head: '{"name": "',
  mid: '", "arguments": ',
  tail: "}",
  between: ", ",
  close: "",
};

/** For models whose template knows no tools: one JSON object that is either calls or an answer. */
const GENERAL: CallFormat = {
  ...CALL,
  name: "general",
  open: '{"tool_calls": [',
  close: "]}",
  content: ['{"response": ', "}"],
};

/** Each with words of the templates that write it; the first that fits counts. */
const FORMATS: readonly (readonly [CallFormat, ...words: readonly string[]])[] = [
  [
    {
      ...CALL,
      name: "functiongemma",
      markers: ["<start_function_call>", "<end_function_call>", "<escape>"],
      head: "<start_function_call>call:",
      mid: "",
      tail: "<end_function_call>",
      between: "",
      content: "before",
      spelling: {
        brackets: ["{", "}"],
        member: ["", ":", ""],
        comma: ",",
        mark: "<escape>",
        end: "<escape>",
        words: ["true", "false", "null"],
        isDeep: true,
        marked: [],
      },
    },
    "<start_function_call>",
  ],
  [
    {
      ...CALL,
      name: "pythonic",
      markers: ["<|tool_call_start|>", "<|tool_call_end|>"],
      open: "<|tool_call_start|>[",
      head: "",
      mid: "",
      tail: "",
      close: "]<|tool_call_end|>",
      content: "before",
      spelling: {
        brackets: ["(", ")"],
        member: ["", "=", ""],
        comma: ", ",
        mark: null,
        end: "",
        words: ["True", "False", "None"],
        isDeep: false,
        marked: [],
      },
    },
    "<|tool_call_start|>",
  ],
  [
    {
      ...CALL,
      name: "xml",
      markers: ["<tool_call>", "</tool_call>"],
      head: "<tool_call>\n<function=",
      mid: ">\n",
      tail: "</function>\n</tool_call>",
      between: "\n",
      content: "before",
      spelling: {
        brackets: ["", ""],
        member: ["<parameter=", ">\n", "\n</parameter>\n"],
        comma: "",
        mark: "",
        end: "</parameter>",
        words: ["true", "false", "null"],
        isDeep: false,
        marked: [],
      },
    },
    "<tool_call>",
    "<function=",
    "<parameter=",
  ],
  [
    {
      ...CALL,
      name: "hermes",
      markers: ["<tool_call>", "</tool_call>"],
      head: '<tool_call>\n{"name": "',
      tail: "}\n</tool_call>",
      between: "\n",
      content: "before",
    },
    "<tool_call>",
    '"arguments"',
  ],
  [
    // Mistral's newer tokenizers.
    {
      ...CALL,
      name: "mistral-args",
      markers: ["[TOOL_CALLS]", "[ARGS]"],
      head: "[TOOL_CALLS]",
      mid: "[ARGS]",
      tail: "",
      between: "",
      content: "before",
      idLength: 9,
    },
    "[TOOL_CALLS]",
    "[ARGS]",
  ],
  [
    {
      ...CALL,
      name: "mistral",
      markers: ["[TOOL_CALLS]"],
      open: "[TOOL_CALLS][",
      close: "]",
      content: "before",
      idLength: 9,
    },
    "[TOOL_CALLS]",
  ],
  [{ ...CALL, name: "llama", mid: '", "parameters": ', content: "instead", isSingle: true }, '"parameters"', "ipython"],
];

/** Returns the format of a model's calls, as its template writes them. */
export function callFormatOf(template: string): CallFormat {
  const has = (word: string) => template.includes(word);
  const known = has("tools") ? FORMATS.find(([, ...words]) => words.every(has)) : undefined;
  return known?.[0] ?? GENERAL;
}
