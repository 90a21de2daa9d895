/** How a sequence's tokens are drawn and when it ends, with every default decided. vLLM's names in camelCase. */
export interface SamplingParams {
  /** 0 = greedy. */
  readonly temperature: number;
  /** Keep the k largest logits (ties with the k-th stay); 0 = all. */
  readonly topK: number;
  /** Keep the smallest set of most likely tokens with at least this mass; 1 = all. */
  readonly topP: number;
  /** A non-negative integer below 2^53: key of the counter-based random numbers. */
  readonly seed: number;
  /** Most output tokens. */
  readonly maxTokens: number;
  readonly stop: readonly string[];
  readonly stopTokenIds: readonly number[];
  readonly includeStopStrInOutput: boolean;
  /** Whether the model's end-of-text ids do not end the sequence. */
  readonly ignoreEos: boolean;
}
