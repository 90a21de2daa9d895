import type { ServingName } from "./serving-settings.ts";

/** What each setting does, in one or two sentences for display. */
export const SERVING_HELP: Readonly<Record<ServingName, string>> = {
  batchingMode:
    "Continuous: questions join and leave at every step. Static: a batch runs to its end. Sequential: one after the other.",
  batchWindowMs: "How long a static batch waits for more questions before it starts.",
  maxNumSeqs: "This many answers grow at once; further ones wait.",
  maxNumBatchedTokens: "A step computes at most this many tokens, of prompts and answers together.",
  longPrefillTokenThreshold: "A step computes at most this many tokens of one prompt. 0: the whole budget.",
  maxStepStretch: "Prompts that join may make a step this many times as long for those who stream.",
  schedulingPolicy: "Which waiting question starts next. By priority: the lowest number among the panes' settings.",
  maxQueueSize: "When this many sequences wait, further questions are refused.",
  targetItlMs: "The token budget and the number of sequences adapt so that a step takes at most this long.",
  numGpuBlocks: "The key/value cache of all chats together, in blocks of 16 tokens; usually at most 256 MiB.",
  enablePrefixCaching: "Questions that begin with the same tokens share their cache blocks.",
  runAhead: "Steps that are submitted before the tokens of an earlier one are known. 0 waits for each step.",
  "speculation.method":
    "Several tokens are guessed and checked in one step; the answers stay the same. By n-grams: words that followed the same words before.",
  "speculation.num_speculative_tokens": "Most tokens that are drafted at once.",
  "speculation.minMatch": "This many last tokens must have occurred before.",
  "speculation.model":
    "A small model with the same tokens: its hub name, such as distilbert/distilgpt2, or its folder's address. It is downloaded and loaded too.",
  "alerts.lowOccupancy":
    "Raised when questions wait although less than this share of the slots is in use (0.6: 60%). off: never.",
  "alerts.queueLength": "Raised when more sequences than this wait. off: never.",
  "alerts.itlMs":
    "Raised when the time between tokens (its 95th percentile) is longer; by default than the target latency, or than four of this adapter's own steps, at least 50 ms. off: never.",
  "alerts.failureRate":
    "Raised when more than this share of the last 100 requests failed or were refused (0.05: 5%). off: never.",
  logLevel: "What the engine writes to the browser's console.",
};
