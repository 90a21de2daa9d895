// The extensions of OpenAI's API that servers understand.

/** Fields of a request that not every server of OpenAI's API takes. */
type ExtraField = "top_k" | "min_p" | "repetition_penalty";

export interface ServerSoftware {
  /** Name for display. */
  readonly title: string;
  /** Its names of fields; absent if it does not take the field. */
  readonly extraFields: Readonly<Partial<Record<ExtraField, string>>>;
  /**
   * How it continues an answer that has begun. flag: by vLLM's `continue_final_message`. last: by itself, if the last
   * message is an assistant's. Null: not at all.
   */
  readonly continues: "flag" | "last" | null;
  /** OpenAI's own name for `max_tokens`, which its newer models refuse. */
  readonly maxTokens: "max_tokens" | "max_completion_tokens";
}

const VLLM_FIELDS = { top_k: "top_k", min_p: "min_p", repetition_penalty: "repetition_penalty" } as const;

/** Software by `owned_by` of the entries in /v1/models. */
const SOFTWARE: Readonly<Record<string, ServerSoftware>> = {
  chorus: { title: "Chorus", extraFields: VLLM_FIELDS, continues: "flag", maxTokens: "max_tokens" },
  vllm: { title: "vLLM", extraFields: VLLM_FIELDS, continues: "flag", maxTokens: "max_tokens" },
  sglang: { title: "SGLang", extraFields: VLLM_FIELDS, continues: "flag", maxTokens: "max_tokens" },
  llamacpp: {
    title: "llama.cpp",
    extraFields: { top_k: "top_k", min_p: "min_p", repetition_penalty: "repeat_penalty" },
    continues: "last",
    maxTokens: "max_tokens",
  },
  library: { title: "Ollama", extraFields: {}, continues: null, maxTokens: "max_tokens" },
  openai: { title: "OpenAI", extraFields: {}, continues: null, maxTokens: "max_completion_tokens" },
  system: { title: "OpenAI", extraFields: {}, continues: null, maxTokens: "max_completion_tokens" },
};

/** An unknown server gets OpenAI's fields alone. */
const UNKNOWN: ServerSoftware = {
  title: "an OpenAI-compatible server",
  extraFields: {},
  continues: null,
  maxTokens: "max_tokens",
};

/** @param ownedBy owner of an entry in /v1/models; null if unknown */
export function softwareOf(ownedBy: string | null): ServerSoftware {
  return (ownedBy !== null && Object.hasOwn(SOFTWARE, ownedBy) && SOFTWARE[ownedBy]) || UNKNOWN;
}
