/** Fields of a request that not every server of OpenAI's API takes. */
type ExtraField = "top_k" | "min_p" | "repetition_penalty";

export interface ServerSoftware {
  readonly title: string;
  /** Its names of fields; absent if it does not take the field. */
  readonly extraFields: Readonly<Partial<Record<ExtraField, string>>>;
  /** flag: by vLLM's `continue_final_message`. last: by itself, after an assistant's message. Null: it can't continue. */
  readonly continues: "flag" | "last" | null;
  /** OpenAI's own name for `max_tokens`, which its newer models refuse. */
  readonly maxTokens: "max_tokens" | "max_completion_tokens";
}

/** An unknown server gets OpenAI's fields alone. */
const UNKNOWN: ServerSoftware = {
  title: "an OpenAI-compatible server",
  extraFields: {},
  continues: null,
  maxTokens: "max_tokens",
};
const VLLM: ServerSoftware = {
  ...UNKNOWN,
  title: "vLLM",
  extraFields: { top_k: "top_k", min_p: "min_p", repetition_penalty: "repetition_penalty" },
  continues: "flag",
};
const OPENAI: ServerSoftware = { ...UNKNOWN, title: "OpenAI", maxTokens: "max_completion_tokens" };

/** Software by `owned_by` of the entries in /v1/models. */
const SOFTWARE: Readonly<Record<string, ServerSoftware>> = {
  chorus: { ...VLLM, title: "Chorus" },
  vllm: VLLM,
  sglang: { ...VLLM, title: "SGLang" },
  llamacpp: {
    ...UNKNOWN,
    title: "llama.cpp",
    extraFields: { ...VLLM.extraFields, repetition_penalty: "repeat_penalty" },
    continues: "last",
  },
  library: { ...UNKNOWN, title: "Ollama" },
  openai: OPENAI,
  system: OPENAI,
};

/** @param ownedBy owner of an entry in /v1/models; null if unknown */
export function softwareOf(ownedBy: string | null): ServerSoftware {
  return (ownedBy !== null && Object.hasOwn(SOFTWARE, ownedBy) && SOFTWARE[ownedBy]) || UNKNOWN;
}
