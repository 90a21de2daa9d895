// Models of the hub whose families this engine runs. Names, sizes, licences and frames were read from their repositories,
// which may change; models.estimate() asks the repository itself.

import { CHAT_FRAMES, type ChatFrame } from "./chat-frames.ts";

export type { ChatFrame };

export interface CatalogueEntry {
  /** What createEngine takes as `model`. */
  readonly model: string;
  /** What createEngine takes as `revision`; null: the newest. */
  readonly revision: string | null;
  /** For people. */
  readonly title: string;
  readonly numParameters: number | null;
  /** Size of the weights file in bytes; null if unknown. Tensors that the model does not use are not downloaded. */
  readonly downloadBytes: number | null;
  /** SPDX name, or the hub's where there is none; null where the repository names none. */
  readonly license: string | null;
  /** "base": continues a text. "chat", "instruction": answers. "test": random weights. */
  readonly kind: "base" | "chat" | "instruction" | "test";
  /**
   * The same model in GGUF, a third to a half of the download: what createEngine takes as `model`. Q4_K_M where the repository is
   * known to have it; else the repository alone, which stands for Q4_K_M or what comes nearest. [none]
   */
  readonly gguf?: string;
  /** Size of that file in bytes. [unknown] */
  readonly ggufBytes?: number;
  /** What to expect of it, in a sentence. */
  readonly expect: string;
  /** Null uses the model's own template, or a plain dialogue if it has none. */
  readonly chatFrame: ChatFrame | null;
}

/** Null where nothing is said. */
const UNKNOWN = { revision: null, numParameters: null, downloadBytes: null, license: null };

type WrittenEntry = Omit<CatalogueEntry, "chatFrame" | keyof typeof UNKNOWN> & Partial<CatalogueEntry>;

const MODELS: readonly WrittenEntry[] = [
  {
    model: "HuggingFaceTB/SmolLM2-135M-Instruct",
    gguf: "bartowski/SmolLM2-135M-Instruct-GGUF:Q4_K_M",
    ggufBytes: 105_000_000,
    title: "SmolLM2 135M Instruct",
    numParameters: 134_515_008,
    downloadBytes: 269_000_000,
    license: "apache-2.0",
    kind: "chat",
    expect: "The first choice for a chat: quick, follows simple instructions, and is often wrong on facts.",
  },
  {
    model: "HuggingFaceTB/SmolLM2-360M-Instruct",
    gguf: "HuggingFaceTB/SmolLM2-360M-Instruct-GGUF",
    title: "SmolLM2 360M Instruct",
    numParameters: 361_821_120,
    downloadBytes: 724_000_000,
    license: "apache-2.0",
    kind: "chat",
    expect: "Like SmolLM2 135M, with better answers at less than half the speed.",
  },
  {
    model: "Qwen/Qwen2.5-0.5B-Instruct",
    gguf: "Qwen/Qwen2.5-0.5B-Instruct-GGUF",
    title: "Qwen2.5 0.5B Instruct",
    numParameters: 494_032_768,
    downloadBytes: 988_000_000,
    license: "apache-2.0",
    kind: "chat",
    expect: "Follows instructions in many languages, and writes some code and JSON.",
  },
  {
    model: "Qwen/Qwen3-0.6B",
    gguf: "Qwen/Qwen3-0.6B-GGUF",
    ggufBytes: 639_000_000,
    title: "Qwen3 0.6B",
    numParameters: 596_049_920,
    downloadBytes: 1_503_000_000,
    license: "apache-2.0",
    kind: "chat",
    expect: "Thinks before it answers, in many languages. 311 MB of its file are stored twice and not downloaded.",
  },
  {
    model: "google/gemma-3-270m-it",
    gguf: "ggml-org/gemma-3-270m-it-GGUF",
    title: "Gemma 3 270M it",
    numParameters: 268_098_176,
    downloadBytes: 536_000_000,
    license: "gemma",
    kind: "chat",
    expect: "Short answers in many languages. The hub asks for a token of somebody who accepted Google's terms.",
  },
  {
    model: "ibm-granite/granite-4.0-350m",
    gguf: "ibm-granite/granite-4.0-350m-GGUF",
    ggufBytes: 237_000_000,
    title: "Granite 4.0 350M",
    numParameters: 352_379_904,
    license: "apache-2.0",
    kind: "chat",
    expect: "Follows instructions and calls tools; small for either, so give it one thing at a time.",
  },
  {
    model: "LiquidAI/LFM2.5-350M",
    gguf: "LiquidAI/LFM2.5-350M-GGUF:Q4_K_M",
    ggufBytes: 229_000_000,
    title: "LFM2.5 350M",
    numParameters: 354_483_968,
    license: "lfm1.0",
    kind: "chat",
    expect:
      "Quick for what it can: takes data out of texts and calls tools in eight languages; knows little, writes no code.",
  },
  {
    model: "Qwen/Qwen3.5-0.8B",
    gguf: "unsloth/Qwen3.5-0.8B-GGUF:Q4_K_M",
    title: "Qwen3.5 0.8B",
    numParameters: 752_393_024,
    license: "apache-2.0",
    kind: "chat",
    expect: "Thinks before it answers, in many languages; a long text takes little memory. What it sees is not read.",
  },
  {
    model: "LiquidAI/LFM2.5-1.2B-Instruct",
    gguf: "LiquidAI/LFM2.5-1.2B-Instruct-GGUF:Q4_K_M",
    ggufBytes: 731_000_000,
    title: "LFM2.5 1.2B Instruct",
    numParameters: 1_170_340_608,
    license: "lfm1.0",
    kind: "chat",
    expect:
      "Follows instructions and calls tools in eight languages, quicker than others of its size; it needs a real GPU.",
  },
  {
    model: "google/gemma-3-1b-it",
    gguf: "ggml-org/gemma-3-1b-it-GGUF:Q4_K_M",
    ggufBytes: 799_000_000,
    title: "Gemma 3 1B it",
    numParameters: 999_885_952,
    downloadBytes: 2_000_000_000,
    license: "gemma",
    kind: "chat",
    expect:
      "Good answers for its size, in many languages. The hub asks for a token of somebody who accepted Google's terms.",
  },
  {
    model: "meta-llama/Llama-3.2-1B-Instruct",
    gguf: "bartowski/Llama-3.2-1B-Instruct-GGUF:Q4_K_M",
    ggufBytes: 800_000_000,
    title: "Llama 3.2 1B Instruct",
    numParameters: 1_235_814_400,
    downloadBytes: 2_471_000_000,
    license: "llama3.2",
    kind: "chat",
    expect:
      "Follows instructions in eight languages. The hub asks for a token of somebody who accepted Meta's terms, but not for its GGUF.",
  },
  {
    model: "ibm-granite/granite-4.0-1b",
    gguf: "ibm-granite/granite-4.0-1b-GGUF",
    ggufBytes: 1_024_000_000,
    title: "Granite 4.0 1B",
    numParameters: 1_631_750_144,
    license: "apache-2.0",
    kind: "chat",
    expect: "Follows instructions, calls tools and works on given texts; it needs a real GPU.",
  },
  {
    model: "Qwen/Qwen3-1.7B",
    gguf: "unsloth/Qwen3-1.7B-GGUF:Q4_K_M",
    ggufBytes: 1_107_000_000,
    title: "Qwen3 1.7B",
    numParameters: 1_720_574_976,
    license: "apache-2.0",
    kind: "chat",
    expect: "As Qwen3 0.6B, with better answers at about a third of the speed; it needs a real GPU.",
  },
  {
    model: "HuggingFaceTB/SmolLM3-3B",
    gguf: "ggml-org/SmolLM3-3B-GGUF:Q4_K_M",
    ggufBytes: 1_907_000_000,
    title: "SmolLM3 3B",
    numParameters: 3_075_098_624,
    downloadBytes: 6_150_000_000,
    license: "apache-2.0",
    kind: "chat",
    expect: "Answers at length, thinks if it is asked to; 2 GB even in four bits, for GPUs of 4 GB and more.",
  },
  {
    model: "microsoft/Phi-4-mini-instruct",
    gguf: "unsloth/Phi-4-mini-instruct-GGUF:Q4_K_M",
    ggufBytes: 2_492_000_000,
    title: "Phi-4 mini instruct",
    numParameters: 3_836_021_760,
    downloadBytes: 7_672_000_000,
    license: "mit",
    kind: "chat",
    expect: "The most able of these at sums, code and reasoning; for GPUs of 6 GB and more.",
  },
  {
    model: "distilbert/distilgpt2",
    title: "DistilGPT-2",
    numParameters: 81_912_576,
    downloadBytes: 353_000_000,
    license: "apache-2.0",
    kind: "base",
    expect: "Half of GPT-2's layers: quick, and goes on with a text in its style. It does not answer questions.",
  },
  {
    model: "openai-community/gpt2",
    title: "GPT-2 (124M)",
    numParameters: 124_439_808,
    downloadBytes: 548_000_000,
    license: "mit",
    kind: "base",
    expect: "Goes on with a text in its style. It does not answer questions.",
  },
  {
    model: "openai-community/gpt2-medium",
    title: "GPT-2 medium (355M)",
    numParameters: 354_823_168,
    downloadBytes: 1_520_000_000,
    license: "mit",
    kind: "base",
    expect: "As GPT-2, with fewer slips over a paragraph or two.",
  },
  {
    model: "openai-community/gpt2-large",
    title: "GPT-2 large (774M)",
    numParameters: 774_030_080,
    downloadBytes: 3_247_000_000,
    license: "mit",
    kind: "base",
    expect: "The most coherent of these; needs a real GPU, and q8 or q4 on most.",
  },
  {
    model: "microsoft/DialoGPT-small",
    title: "DialoGPT small",
    numParameters: 124_439_808,
    downloadBytes: 351_000_000,
    license: "mit",
    kind: "chat",
    expect: "Short replies of small talk, trained on Reddit threads. It knows little and follows no instructions.",
  },
  {
    model: "microsoft/DialoGPT-medium",
    title: "DialoGPT medium",
    numParameters: 354_823_168,
    license: "mit",
    kind: "chat",
    expect: "As DialoGPT small, with better replies.",
  },
  {
    model: "MBZUAI/LaMini-GPT-124M",
    revision: "refs/pr/4",
    title: "LaMini-GPT (124M)",
    numParameters: 124_440_576,
    downloadBytes: 510_000_000,
    license: "cc-by-nc-4.0",
    kind: "instruction",
    expect: "Follows simple instructions, a turn at a time; often wrong on facts. Not for commercial use.",
  },
  {
    model: "nicholasKluge/Aira-2-124M-DPO",
    title: "Aira-2 (124M, DPO)",
    numParameters: 124_441_344,
    license: "apache-2.0",
    kind: "instruction",
    expect: "Answers instructions in whole sentences; often wrong on facts.",
  },
  {
    model: "SebastianSchramm/Cerebras-GPT-111M-instruction",
    title: "Cerebras-GPT instruction (111M)",
    numParameters: 111_051_264,
    downloadBytes: 444_000_000,
    kind: "instruction",
    expect: "Follows simple instructions, a turn at a time, within a context of 2048 tokens.",
  },
  {
    model: "hf-internal-testing/tiny-gpt2-with-chatml-template",
    title: "Tiny GPT-2 (test)",
    downloadBytes: 413_000,
    kind: "test",
    expect: "Random words: it is there to try downloads and chat templates with.",
  },
];

export const CATALOGUE: readonly CatalogueEntry[] = MODELS.map((entry) => ({
  ...UNKNOWN,
  ...entry,
  chatFrame: CHAT_FRAMES[entry.model] ?? null,
}));
