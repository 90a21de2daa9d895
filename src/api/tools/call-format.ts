// How models write calls of functions. A format is a row of texts around a call's name and arguments, which are JSON or spelled
// otherwise.

import { AS_JSON, type Spelling } from "../../grammar/spelling.ts";

/** The texts of an answer with calls: open, then head NAME mid ARGUMENTS tail, `between` calls, and close. */
export interface CallFormat {
  readonly name: string;
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
  /** How results are written for a template that writes no calls. [role "tool", nothing around them] */
  readonly result?: { readonly role: "tool" | "tool_response"; readonly before: string; readonly after: string };
}

const CALL = {
  open: "",
  head: '{"name": "',
  mid: '", "arguments": ',
  tail: "}",
  between: ", ",
  close: "",
  content: "before",
} as const;

/** For models whose template knows no tools: one JSON object that is either calls or an answer. */
export const GENERAL: CallFormat = {
  ...CALL,
  name: "general",
  open: '{"tool_calls": [',
  close: "]}",
  content: ['{"response": ', "}"],
};

/** As in Python, by names. */
const BY_NAMES = { ...CALL, head: "", mid: "", tail: "" } as const;
const KEYWORDS: Spelling = { ...AS_JSON, brackets: ["(", ")"], member: ["", "=", ""] };

const TAGGED = {
  ...CALL,
  head: '<tool_call>\n{"name": "',
  tail: "}\n</tool_call>",
  between: "\n",
  result: { role: "tool", before: "<tool_response>\n", after: "\n</tool_response>" },
} as const;

const TOOL_RESPONSE = { role: "tool_response", before: "", after: "" } as const;

/** Each with words of the templates that write it, or tokens of the models; the first that fits counts. */
const FORMATS: readonly (readonly [CallFormat, ...words: readonly string[]])[] = [
  [
    {
      ...CALL,
      name: "functiongemma",
      head: "<start_function_call>call:",
      mid: "",
      tail: "<end_function_call>",
      between: "",
      spelling: {
        ...AS_JSON,
        brackets: ["{", "}"],
        member: ["", ":", ""],
        comma: ",",
        mark: "<escape>",
        end: "<escape>",
        isDeep: true,
      },
    },
    "<start_function_call>",
  ],
  [
    {
      ...BY_NAMES,
      name: "pythonic",
      open: "<|tool_call_start|>[",
      close: "]<|tool_call_end|>",
      spelling: { ...KEYWORDS, words: ["True", "False", "None"] },
    },
    "<|tool_call_start|>",
  ],
  [
    {
      ...BY_NAMES,
      name: "pythonic-lines",
      open: "<function_calls>",
      between: "\n",
      close: "</function_calls>",
      spelling: KEYWORDS,
    },
    "<function_calls>",
  ],
  [
    {
      ...TAGGED,
      name: "xml",
      head: "<tool_call>\n<function=",
      mid: ">\n",
      tail: "</function>\n</tool_call>",
      spelling: {
        ...AS_JSON,
        brackets: ["", ""],
        member: ["<parameter=", ">\n", "\n</parameter>\n"],
        comma: "",
        mark: "",
        end: "</parameter>",
      },
    },
    "<tool_call>",
    "<function=",
    "<parameter=",
  ],
  [
    { ...TAGGED, name: "hermes-line", head: '<tool_call>{"name": "', tail: "}</tool_call>" },
    "<tool_call>{",
    '"arguments',
  ],
  [{ ...TAGGED, name: "hermes" }, "<tool_call>", '"arguments'],
  [
    { ...CALL, name: "phi", open: "<|tool_call|>[", close: "]<|/tool_call|>", result: TOOL_RESPONSE },
    "<|tool_call|>",
    "<|tool|>",
  ],
  [{ ...CALL, name: "granite", open: "<|tool_call|>[", close: "]", result: TOOL_RESPONSE }, "<|tool_call|>"],
  [
    // Mistral's newer tokenizers.
    { ...CALL, name: "mistral-args", head: "[TOOL_CALLS]", mid: "[ARGS]", tail: "", between: "", idLength: 9 },
    "[TOOL_CALLS]",
    "[ARGS]",
  ],
  [{ ...CALL, name: "mistral", open: "[TOOL_CALLS][", close: "]", idLength: 9 }, "[TOOL_CALLS]"],
  [{ ...CALL, name: "llama", mid: '", "parameters": ', content: "instead", isSingle: true }, '"parameters"', "ipython"],
];

/**
 * Returns the format of a model's calls: the template writes or describes it, or the vocabulary has its markers.
 * @param isToken whether a text is one token, that no other text becomes
 */
export function callFormatOf(template: string, isToken: (text: string) => boolean = () => false): CallFormat {
  const inTemplate = (word: string) => template.includes(word);
  const of = (has: (word: string) => boolean) => FORMATS.find(([, ...words]) => words.every(has));
  const inEither = (word: string) => inTemplate(word) || (word.startsWith("<|") && isToken(word));
  const known = inTemplate("tools") ? (of(inTemplate) ?? of(inEither)) : undefined;
  return known?.[0] ?? GENERAL;
}
