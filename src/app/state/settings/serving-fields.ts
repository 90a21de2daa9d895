// How the page's engine serves. The form, the link and the JSON are all made from this one table.

import type { ModelCard } from "../../../index.ts";

/** The library's names, so that what is copied from here can be given to createEngine. */
export type ServingName =
  | "batchingMode"
  | "batchWindowMs"
  | "maxNumSeqs"
  | "maxNumBatchedTokens"
  | "longPrefillTokenThreshold"
  | "maxStepStretch"
  | "schedulingPolicy"
  | "maxQueueSize"
  | "targetItlMs"
  | "numGpuBlocks"
  | "enablePrefixCaching"
  | "runAhead"
  | "speculation.method"
  | "speculation.num_speculative_tokens"
  | "speculation.minMatch"
  | "speculation.model"
  | "logLevel";

export type ServingValue = string | number | boolean;

interface FieldOf<Kind extends string> {
  readonly kind: Kind;
  readonly name: ServingName;
  readonly label: string;
  /** One sentence for people. */
  readonly help: string;
  /** The value used where nothing is set, in words. Null: no engine runs yet. */
  readonly defaultText: (model: ModelCard | null) => string;
  /** live: from the next step on. room: so, if the engine was loaded with room for it. restart: the model is loaded again. */
  readonly takesEffect: "live" | "room" | "restart";
  /** Present: the field exists only with these methods of speculation. */
  readonly methods?: readonly string[];
}

interface NumberField extends FieldOf<"number"> {
  readonly min: number;
  readonly max: number;
  readonly isWhole: boolean;
  /** Shown beside the label. */
  readonly unit: string | null;
}

interface ChoiceField extends FieldOf<"choice"> {
  /** Each value with its name for people. */
  readonly choices: Readonly<Record<string, string>>;
}

/** `number`; `choice`: one of some names; `flag`: on or off; `text`: any that is not empty. */
export type ServingField = NumberField | ChoiceField | FieldOf<"flag"> | FieldOf<"text">;

/** In display order. A setting is one entry here and its name in `ServingName`. */
export const SERVING_FIELDS: readonly ServingField[] = [
  {
    name: "batchingMode",
    kind: "choice",
    label: "Batching",
    help: "Continuous: questions join and leave at every step. Static: a batch runs to its end. Sequential: one after the other.",
    choices: { continuous: "Continuous", static: "Static", sequential: "Sequential" },
    defaultText: () => "Continuous",
    takesEffect: "live",
  },
  {
    name: "batchWindowMs",
    kind: "number",
    label: "Batch window",
    help: "How long a static batch waits for more questions before it starts.",
    min: 0,
    max: 60_000,
    isWhole: false,
    unit: "ms",
    defaultText: () => "50",
    takesEffect: "live",
  },
  {
    name: "maxNumSeqs",
    kind: "number",
    label: "Most sequences",
    help: "This many answers grow at once; further ones wait.",
    min: 1,
    max: 1024,
    isWhole: true,
    unit: null,
    defaultText: () => "64",
    takesEffect: "room",
  },
  {
    name: "maxNumBatchedTokens",
    kind: "number",
    label: "Token budget",
    help: "A step computes at most this many tokens, of prompts and answers together.",
    min: 1,
    max: 8192,
    isWhole: true,
    unit: "per step",
    defaultText: (model) => (model === null ? "the backend's" : model.backend === "cpu" ? "64" : "256"),
    takesEffect: "room",
  },
  {
    name: "longPrefillTokenThreshold",
    kind: "number",
    label: "Longest piece of a prompt",
    help: "A step computes at most this many tokens of one prompt. 0: the whole budget.",
    min: 0,
    max: 8192,
    isWhole: true,
    unit: "tokens",
    defaultText: () => "0",
    takesEffect: "live",
  },
  {
    name: "maxStepStretch",
    kind: "number",
    label: "Stretch of a step by prompts",
    help: "Prompts that join may make a step this many times as long for those who stream.",
    min: 1,
    max: 1000,
    isWhole: false,
    unit: "times",
    defaultText: () => "2",
    takesEffect: "live",
  },
  {
    name: "schedulingPolicy",
    kind: "choice",
    label: "Policy",
    help: "Which waiting question starts next. By priority: the lowest number among the panes' settings.",
    choices: {
      fcfs: "By arrival",
      priority: "By priority",
      "shortest-remaining": "Shortest first",
      balanced: "Balanced",
    },
    defaultText: () => "By arrival",
    takesEffect: "live",
  },
  {
    name: "maxQueueSize",
    kind: "number",
    label: "Queue bound",
    help: "When this many sequences wait, further questions are refused.",
    min: 0,
    max: 1_000_000,
    isWhole: true,
    unit: "sequences",
    defaultText: () => "none",
    takesEffect: "live",
  },
  {
    name: "targetItlMs",
    kind: "number",
    label: "Target latency",
    help: "The token budget and the number of sequences adapt so that a step takes at most this long.",
    min: 1,
    max: 60_000,
    isWhole: false,
    unit: "ms",
    defaultText: () => "none",
    takesEffect: "live",
  },
  {
    name: "numGpuBlocks",
    kind: "number",
    label: "Cache size",
    help: "The key/value cache of all chats together, in blocks of 16 tokens; usually at most 256 MiB.",
    min: 1,
    max: 2 ** 24,
    isWhole: true,
    unit: "blocks",
    defaultText: () => "16 full chats",
    takesEffect: "restart",
  },
  {
    name: "enablePrefixCaching",
    kind: "flag",
    label: "Prefix cache",
    help: "Questions that begin with the same tokens share their cache blocks.",
    defaultText: () => "on",
    takesEffect: "live",
  },
  {
    name: "runAhead",
    kind: "number",
    label: "Run-ahead",
    help: "Steps that are submitted before the tokens of an earlier one are known. 0 waits for each step.",
    min: 0,
    max: 4,
    isWhole: true,
    unit: "steps",
    defaultText: () => "2",
    takesEffect: "live",
  },
  {
    name: "speculation.method",
    kind: "choice",
    label: "Drafts",
    help: "Several tokens are guessed and checked in one step; the answers stay the same. By n-grams: words that followed the same words before.",
    choices: { ngram: "By n-grams", draft_model: "By a draft model" },
    defaultText: () => "none",
    takesEffect: "room",
  },
  {
    name: "speculation.num_speculative_tokens",
    kind: "number",
    label: "Draft length",
    help: "Most tokens that are drafted at once.",
    min: 1,
    max: 16,
    isWhole: true,
    unit: "tokens",
    defaultText: () => "4",
    takesEffect: "room",
    methods: ["ngram", "draft_model"],
  },
  {
    name: "speculation.minMatch",
    kind: "number",
    label: "Shortest match",
    help: "This many last tokens must have occurred before.",
    min: 1,
    max: 8,
    isWhole: true,
    unit: "tokens",
    defaultText: () => "3",
    takesEffect: "live",
    methods: ["ngram"],
  },
  {
    name: "speculation.model",
    kind: "text",
    label: "Draft model",
    help: "A small model with the same tokens: its hub name, such as distilbert/distilgpt2, or its folder's address. It is downloaded and loaded too.",
    defaultText: () => "owner/name",
    takesEffect: "restart",
    methods: ["draft_model"],
  },
  {
    name: "logLevel",
    kind: "choice",
    label: "Log level",
    help: "What the engine writes to the browser's console.",
    choices: { silent: "Silent", error: "Errors", warn: "Warnings", info: "Information", debug: "Everything" },
    defaultText: () => "Silent",
    takesEffect: "live",
  },
];
