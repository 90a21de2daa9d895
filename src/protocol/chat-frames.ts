// How chats are framed with models of the catalogue that have no template of their own.

/** Chat frame for a model without its own chat template. */
export interface ChatFrame {
  /** Jinja, as in Hugging Face's tokenizer_config.json. */
  readonly template: string;
  /** Strings that end an answer, besides the model's end of text. */
  readonly stop: readonly string[];
}

/** Ends the answer where the model would invent the next instruction. */
const ALPACA: ChatFrame = {
  template:
    "Below is an instruction that describes a task. Write a response that appropriately completes the request.\n\n" +
    "{% for message in messages %}" +
    "{% if message.role == 'assistant' %}### Response:\n{{ message.content }}\n\n" +
    "{% elif message.role == 'user' %}### Instruction:\n{{ message.content }}\n\n" +
    "{% else %}{{ message.content }}\n\n{% endif %}" +
    // Jinja drops a newline at the end of the template.
    "{% endfor %}### Response:{{ '\\n' }}",
  stop: ["\n### "],
};

/** Every turn ends with the end of text; no roles are named. */
const TURNS: ChatFrame = {
  template: "{% for message in messages %}{{ message.content }}{{ eos_token }}{% endfor %}",
  stop: [],
};

const AIRA: ChatFrame = {
  template:
    "{% for message in messages %}" +
    "{% if message.role == 'assistant' %}{{ message.content }}<|endofcompletion|>" +
    "{% else %}<|startofinstruction|>{{ message.content }}<|endofinstruction|>{% endif %}" +
    "{% endfor %}",
  stop: ["<|endofcompletion|>"],
};

/** By what createEngine takes as `model`. */
export const CHAT_FRAMES: Readonly<Record<string, ChatFrame>> = {
  "microsoft/DialoGPT-small": TURNS,
  "microsoft/DialoGPT-medium": TURNS,
  "MBZUAI/LaMini-GPT-124M": ALPACA,
  "nicholasKluge/Aira-2-124M-DPO": AIRA,
  "SebastianSchramm/Cerebras-GPT-111M-instruction": ALPACA,
};
