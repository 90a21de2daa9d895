// Known fields of OpenAI's and vLLM's requests that are not supported. Clients often send them with a value that changes
// nothing; that is accepted. Any other value is an error that names the field: to ignore it would be to lie.

import { quote, unsupported, type Fields } from "./validate.ts";
import { isObject } from "../protocol/json-object.ts";

/** Values besides null, [] and {} that change nothing. */
const NEUTRAL_VALUES: ReadonlyMap<string, readonly unknown[]> = new Map<string, readonly unknown[]>([
  // OpenAI's
  ["audio", []],
  ["echo", [false]],
  ["modalities", [["text"]]],
  ["prediction", []],
  ["prompt_cache_key", [""]],
  ["prompt_cache_retention", []],
  ["reasoning_effort", ["none"]],
  ["safety_identifier", [""]],
  ["service_tier", ["auto", "default"]],
  ["suffix", [""]],
  ["verbosity", ["medium"]],
  ["web_search_options", []],
  // vLLM's
  ["add_generation_prompt", [true]],
  ["add_special_tokens", [false]],
  ["parse_special_tokens", [false]],
  ["chat_template", []],
  ["chat_template_kwargs", []],
  ["documents", []],
  ["guided_choice", []],
  ["guided_grammar", []],
  ["guided_json", []],
  ["guided_regex", []],
  ["kv_transfer_params", []],
  ["logits_processors", []],
  ["mm_processor_kwargs", []],
  ["prompt_embeds", []],
  ["skip_special_tokens", [true]],
  ["spaces_between_special_tokens", [true]],
  ["truncate_prompt_tokens", []],
  ["vllm_xargs", []],
]);

export const UNSUPPORTED_FIELDS: readonly string[] = [...NEUTRAL_VALUES.keys()];

/**
 * @param supported fields that this endpoint supports, though others don't
 * @throws ChorusError unsupported_parameter for the first one with a value that would change something.
 */
export function refuseUnsupported(fields: Fields, supported: readonly string[] = []): void {
  for (const [name, neutral] of NEUTRAL_VALUES) {
    const value = fields.get(name);
    if (supported.includes(name) || value === undefined || isEmpty(value) || neutral.some((one) => isSame(value, one)))
      continue;
    const allowed = neutral.length === 0 ? "" : ` (or give ${neutral.map(quote).join(" or ")})`;
    const guided = /^guided_(.*)$/.exec(name)?.[1];
    const why =
      guided === undefined
        ? `The field ${name} is not supported yet, and ${quote(value)} would change the answer. Leave it out${allowed}.`
        : `${name} is an older name that vLLM gave up. Give structured_outputs: { ${guided}: ... } instead.`;
    throw unsupported(name, why);
  }
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0;
}

/** Equal, or with equal entries. */
function isSame(value: unknown, neutral: unknown): boolean {
  if (Array.isArray(value) && Array.isArray(neutral)) {
    return value.length === neutral.length && value.every((element, i) => element === neutral[i]);
  }
  return value === neutral;
}
