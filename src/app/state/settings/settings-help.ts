import type { SettingName } from "./settings.ts";

/** What each setting does, in one or two sentences for display. */
export const SETTINGS_HELP: Readonly<Record<SettingName, string>> = {
  system: "Given to the model before the conversation: who it should be and how it should answer.",
  continue_text: "The model continues your text as is, ignoring earlier messages. For models not trained to chat.",
  temperature: "0 always chooses the likeliest word; higher values take more risks.",
  top_p: "Chooses among the likeliest words that together reach this probability. 1: all.",
  top_k: "Chooses among this many of the likeliest words. 0: all.",
  min_p: "Leaves out words whose probability is below this fraction of the likeliest word's. 0: none.",
  seed: "The same seed gives the same answer to the same conversation, whatever the other panes do.",
  logit_bias:
    'Makes words likelier or less likely, one per line: "Paris: 5", or "#464: -100" for the token 464. From -100, never, to 100.',
  repetition_penalty: "Above 1, words of the conversation become less likely. 1: no change.",
  presence_penalty: "Above 0, words that the answer has used become less likely; below 0, more likely.",
  frequency_penalty: "Like presence, but stronger with each use.",
  no_repeat_ngram_size: "Forbids repeating any n-gram of this size. 0: allows all.",
  max_tokens: "In tokens. An answer that reaches it, or the end of what the model reads, can be continued.",
  stop: "The answer ends before any of these texts, one per line.",
  n: "This many answers to each question, side by side; choose the one to go on with. At temperature 0 they are the same.",
  beams:
    "Searches for the likeliest answer with this many beams. Temperature, filters, seed, stop sequences and probabilities then don't count. 0: none.",
  answer_schema: "A JSON schema: the answer will always match this schema.",
  show_probabilities:
    "Shades the words of answers: the less likely, the darker. Point at one, or move there with the arrow keys, for its alternatives; click it to go on from there with one of them.",
  priority: "With the serving policy by priority, lower numbers are served first.",
  calculator:
    "The model may call it: exact arithmetic. Every call of a tool waits for your click, until you trust the tool in a chat.",
  clock: "Date, time and time zone of this machine.",
  search_chats:
    "Finds passages of the chats in this browser. The model reads what is found: a server's, too, if it answers.",
  mcp_servers: "Addresses of those that are under Connections, one per line: all of their tools.",
  own_tools: "A list in OpenAI's form. You type what each call returns.",
  tool_choice: "Models that were not trained for tools call once, if they must, or always.",
};

/** What "Insert example" inserts. */
export const SETTINGS_EXAMPLES: Readonly<Partial<Record<SettingName, string>>> = {
  answer_schema: JSON.stringify(
    {
      type: "object",
      properties: { answer: { type: "string", maxLength: 80 }, mood: { enum: ["glad", "sad", "curious"] } },
      required: ["answer", "mood"],
      additionalProperties: false,
    },
    null,
    2,
  ),
  own_tools: JSON.stringify(
    [
      {
        type: "function",
        function: {
          name: "weather",
          description: "Tells the weather in a city.",
          parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
        },
      },
    ],
    null,
    2,
  ),
};
