// The figures of one answer, which `include_metrics` puts into it. snake_case, as on the wire, with vLLM's names where it
// has them.

/** Null: it has not happened, or there was nothing to measure. Times are of the worker's clock. */
export interface RequestMetrics {
  /** From arrival to being scheduled first. */
  queue_time_ms: number | null;
  /** From arrival to the first token, as in vLLM's histogram. vLLM's field of this name leaves out the queue. */
  time_to_first_token_ms: number | null;
  /** From being scheduled first to the first token. */
  prefill_time_ms: number | null;
  /** From the first token to the last. */
  generation_time_ms: number | null;
  /** From arrival to the end. */
  total_time_ms: number | null;
  /** Between two successive tokens. Tokens of one step share its time evenly. */
  mean_itl_ms: number | null;
  p95_itl_ms: number | null;
  /** Generated tokens over the time from being scheduled first to the last token. */
  tokens_per_second: number | null;
  /** Steps that computed something for the answer. */
  num_steps: number;
  /** Sequences in these steps, those of the answer included. */
  mean_batch_size: number | null;
  max_batch_size: number;
  num_preemptions: number;
  /** Prompt tokens that the prefix cache had. */
  cached_tokens: number;
  /** Null: nothing was drafted. */
  speculative_decoding: DraftMetrics | null;
  /** Totals of a request with several prompts. */
  prompt_list?: PromptListMetrics;
}

export interface DraftMetrics {
  num_draft_tokens: number;
  num_accepted_draft_tokens: number;
  /** 0..1 */
  draft_acceptance_rate: number;
}

/** The totals of a list of prompts, from its arrival to the end of its last answer. */
export interface PromptListMetrics {
  num_prompts: number;
  total_time_s: number;
  time_per_prompt_s: number;
  /** Generated tokens of all answers together. */
  tokens_per_second: number;
}
