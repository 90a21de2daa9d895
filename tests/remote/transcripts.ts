// Streams in the shapes that servers send them: what one chat's answer looks like on the wire. The words are ours.

const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`;

/** The text of every transcript. Its characters have one to four bytes. */
export const TOLD = "Grüße, 世界 👋!";
const PIECES = ["Grüße", ", 世", "界 👋", "!"];

interface Transcript {
  /** The owner's name in /v1/models. */
  readonly ownedBy: string;
  readonly chat: string;
  readonly reasoning: string;
  /** Tokens that the figures show: as the server counts them, else by events. */
  readonly numTokens: number;
  /** Its message when it fails in the middle of an answer. */
  readonly broken: string;
}

const VLLM = { id: "chatcmpl-7f2b", object: "chat.completion.chunk", created: 1763800000, model: "Qwen/Qwen3-0.6B" };
const vllm = (delta: object, finish_reason: string | null = null, usage?: object) =>
  event({
    ...VLLM,
    choices: [{ index: 0, delta, logprobs: null, finish_reason, ...(finish_reason && { stop_reason: null }) }],
    ...(usage && { usage }),
  });
const vllmUsage = (count: number) => ({ prompt_tokens: 12, total_tokens: 12 + count, completion_tokens: count });

const SGLANG = { id: "7c1e", object: "chat.completion.chunk", created: 1763800000, model: "default" };
const sglang = (delta: object, finish_reason: string | null = null) =>
  event({
    ...SGLANG,
    choices: [
      {
        index: 0,
        delta: { role: null, content: null, reasoning_content: null, tool_calls: null, ...delta },
        logprobs: null,
        finish_reason,
        matched_stop: finish_reason && 151645,
      },
    ],
    usage: null,
  });

const LLAMA = { created: 1762593253, id: "chatcmpl-DHvc", model: "gpt-oss", system_fingerprint: "b6881-8b11deea4" };
const llama = (delta: object, finish_reason: string | null = null, more: object = {}) =>
  event({ choices: [{ finish_reason, index: 0, delta }], ...LLAMA, object: "chat.completion.chunk", ...more });

const OLLAMA = { id: "chatcmpl-123", object: "chat.completion.chunk", created: 1763800000, model: "gemma3:1b" };
const ollama = (delta: object, finish_reason: string | null = null) =>
  event({
    ...OLLAMA,
    system_fingerprint: "fp_ollama",
    choices: [{ index: 0, delta: { role: "assistant", content: "", ...delta }, finish_reason }],
  });

export const TRANSCRIPTS: Readonly<Record<string, Transcript>> = {
  // A role chunk first, usage in every chunk (continuous_usage_stats), the usage alone at the end.
  vllm: {
    ownedBy: "vllm",
    chat: [
      vllm({ role: "assistant", content: "" }, null, vllmUsage(0)),
      vllm({ reasoning_content: "A greeting." }, null, vllmUsage(3)),
      ...PIECES.map((content, index) => vllm({ content }, null, vllmUsage(4 + index))),
      vllm({ content: "" }, "stop", vllmUsage(8)),
      event({ ...VLLM, choices: [], usage: vllmUsage(8) }),
      "data: [DONE]\n\n",
    ].join(""),
    reasoning: "A greeting.",
    numTokens: 8,
    broken: [
      vllm({ role: "assistant", content: "" }),
      vllm({ content: "Grüße" }),
      event({
        error: { message: "EngineCore encountered an issue.", type: "InternalServerError", param: null, code: 500 },
      }),
      "data: [DONE]\n\n",
    ].join(""),
  },
  // Nulls for all that a chunk has not; usage null until the end.
  sglang: {
    ownedBy: "sglang",
    chat: [
      sglang({ role: "assistant", content: "" }),
      sglang({ reasoning_content: "A greeting." }),
      ...PIECES.map((content) => sglang({ content })),
      sglang({}, "stop"),
      event({ ...SGLANG, choices: [], usage: { prompt_tokens: 12, total_tokens: 19, completion_tokens: 7 } }),
      "data: [DONE]\n\n",
    ].join(""),
    reasoning: "A greeting.",
    numTokens: 7,
    broken: [
      sglang({ role: "assistant", content: "" }),
      sglang({ content: "Grüße" }),
      event({
        error: { object: "error", message: "Generation aborted.", type: "SERVICE_UNAVAILABLE", param: null, code: 503 },
      }),
      "data: [DONE]\n\n",
    ].join(""),
  },
  // Comments while it reads the prompt, content null, an empty delta with usage and timings at the end.
  "llama.cpp": {
    ownedBy: "llamacpp",
    chat: [
      ":\n\n",
      llama({ role: "assistant", content: null }),
      ": keep-alive\n\n",
      llama({ reasoning_content: "A greeting." }),
      ...PIECES.map((content) => llama({ content })),
      llama({}, "stop"),
      event({
        choices: [],
        ...LLAMA,
        object: "chat.completion.chunk",
        usage: { completion_tokens: 9, prompt_tokens: 12, total_tokens: 21 },
        timings: { prompt_n: 12, prompt_ms: 203.378, predicted_n: 9, predicted_ms: 33.6, predicted_per_second: 264.5 },
      }),
      "data: [DONE]\n\n",
    ].join(""),
    reasoning: "A greeting.",
    numTokens: 9,
    // In a field of its own, as older ones do.
    broken: [
      llama({ role: "assistant", content: null }),
      llama({ content: "Grüße" }),
      `error: ${JSON.stringify({ code: 500, message: "failed to decode", type: "server_error" })}\n\n`,
    ].join(""),
  },
  // The role in every chunk, reasoning under its newer name.
  ollama: {
    ownedBy: "library",
    chat: [
      ollama({ reasoning: "A greeting." }),
      ...PIECES.map((content) => ollama({ content })),
      ollama({}, "stop"),
      event({
        ...OLLAMA,
        system_fingerprint: "fp_ollama",
        choices: [],
        usage: { prompt_tokens: 12, completion_tokens: 10, total_tokens: 22 },
      }),
      "data: [DONE]\n\n",
    ].join(""),
    reasoning: "A greeting.",
    numTokens: 10,
    broken: [
      ollama({ content: "Grüße" }),
      event({ error: { message: "llama runner process has terminated", type: "api_error", param: null, code: null } }),
    ].join(""),
  },
  // Carriage returns, no blank after the colon, several choices' worth of noise, and no usage.
  "a server of no make": {
    ownedBy: "organization_owner",
    chat: [
      ...PIECES.map(
        (content) => `id: 4\r\nevent: message\r\ndata:${JSON.stringify({ choices: [{ delta: { content } }] })}\r\n\r\n`,
      ),
      `data:${JSON.stringify({ choices: [{ delta: {}, finish_reason: "eos_token" }], x: [1] })}\r\n\r\n`,
    ].join(""),
    reasoning: "",
    numTokens: 4,
    broken: `data:${JSON.stringify({ choices: [{ delta: { content: "Grüße" } }] })}\n\ndata: {"object":"error","message":"no more","code":500}\n\n`,
  },
};
