// How models write calls of functions. A format is a row of texts around a call's name and arguments: a family whose calls
// are JSON adds a row, and one that spells arguments otherwise will need a writer and a reader of its own.

/** The texts of an answer with calls: open, then head NAME mid ARGUMENTS tail, `between` calls, and close. */
export interface CallFormat {
  readonly name: "hermes" | "llama" | "mistral" | "mistral-args" | "general";
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
  /** The model's template takes one call an answer. */
  readonly isSingle?: true;
  /** Characters of the ids that the template takes. */
  readonly idLength?: number;
}

const HERMES: CallFormat = {
  name: "hermes",
  markers: ["<tool_call>", "</tool_call>"],
  open: "",
  head: '<tool_call>\n{"name": "',
  mid: '", "arguments": ',
  tail: "}\n</tool_call>",
  between: "\n",
  close: "",
  content: "before",
};

const LLAMA: CallFormat = {
  name: "llama",
  markers: [],
  open: "",
  head: '{"name": "',
  mid: '", "parameters": ',
  tail: "}",
  between: "",
  close: "",
  content: "instead",
  isSingle: true,
};

const MISTRAL: CallFormat = {
  name: "mistral",
  markers: ["[TOOL_CALLS]"],
  open: "[TOOL_CALLS][",
  head: '{"name": "',
  mid: '", "arguments": ',
  tail: "}",
  between: ", ",
  close: "]",
  content: "before",
  idLength: 9,
};

/** Mistral's newer tokenizers. */
const MISTRAL_ARGS: CallFormat = {
  name: "mistral-args",
  markers: ["[TOOL_CALLS]", "[ARGS]"],
  open: "",
  head: "[TOOL_CALLS]",
  mid: "[ARGS]",
  tail: "",
  between: "",
  close: "",
  content: "before",
  idLength: 9,
};

/** For models whose template knows no tools: one JSON object that is either calls or an answer. */
const GENERAL: CallFormat = {
  name: "general",
  markers: [],
  open: '{"tool_calls": [',
  head: '{"name": "',
  mid: '", "arguments": ',
  tail: "}",
  between: ", ",
  close: "]}",
  content: ['{"response": ', "}"],
};

/** Returns the format of a model's calls, as its template writes them. */
export function callFormatOf(template: string): CallFormat {
  const has = (...words: readonly string[]) => words.every((word) => template.includes(word));
  if (!has("tools")) return GENERAL;
  // Calls as XML, or with marks around texts, are formats of their own.
  if (has("<tool_call>", '"arguments"') && !has("<function=")) return HERMES;
  if (has("[TOOL_CALLS]")) return has("[ARGS]") ? MISTRAL_ARGS : MISTRAL;
  return has('"parameters"', "ipython") ? LLAMA : GENERAL;
}
