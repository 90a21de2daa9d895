import { NO_RULES, type LogitRules } from "../../src/engine/sampling/logit-rules.ts";

export interface RuledRow {
  readonly rules: Partial<LogitRules>;
  readonly prompt: readonly number[];
  readonly output?: readonly number[];
  /** The rules change log-probabilities. */
  readonly isBeam?: boolean;
  /** Ids that its mask has. */
  readonly grammar?: readonly number[];
}

/**
 * Returns a row of logits after the rules, in float64, as Hugging Face's processors and vLLM's penalties define them.
 * @param forbidden what stands for a token that may not come
 */
export function ruleReference(
  logits: Float32Array,
  { rules: some, prompt, output = [], isBeam = false, grammar }: RuledRow,
  forbidden: number,
): number[] {
  const rules = { ...NO_RULES, ...some };
  const logTotal = Math.log(logits.reduce((sum, logit) => sum + Math.exp(logit), 0));
  const values = Array.from(logits, (logit) => (isBeam ? logit - logTotal : logit));
  const history = [...prompt, ...output];
  const change = (id: number, changed: (value: number) => number) => (values[id] = changed(values[id] ?? NaN));
  for (const [id, bias] of rules.logitBias) change(id, (value) => value + bias);
  for (const id of new Set(history)) {
    change(id, (value) => (value < 0 ? value * rules.repetitionPenalty : value / rules.repetitionPenalty));
  }
  for (const id of new Set(output)) {
    const times = output.filter((one) => one === id).length;
    change(id, (value) => value - rules.frequencyPenalty * times - rules.presencePenalty);
  }
  const banned = new Set<number | undefined>();
  const n = rules.noRepeatNgramSize;
  for (let i = 0; i + n <= (n === 0 ? -1 : history.length); i++) {
    const isSame = history.slice(i, i + n - 1).join() === history.slice(history.length - n + 1, history.length).join();
    if (n === 1 || isSame) banned.add(history[i + n - 1]);
  }
  for (const word of rules.badWords) {
    const prefix = word.slice(0, -1);
    if (prefix.length <= history.length && history.slice(history.length - prefix.length).join() === prefix.join()) {
      banned.add(word.at(-1));
    }
  }
  if (output.length < rules.minTokens) for (const id of rules.endTokenIds) banned.add(id);
  return values.map((value, id) => {
    const isAllowed = rules.allowedTokenIds?.includes(id) ?? true;
    const isGrammatical = grammar?.includes(id) ?? true;
    return banned.has(id) || !isAllowed || !isGrammatical ? forbidden : value;
  });
}
