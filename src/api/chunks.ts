import type {
  ChatCompletionChunk,
  ChatCompletionChunkChoice,
  Completion,
  CompletionChoice,
} from "../protocol/openai.ts";
import type { RequestMetrics } from "../protocol/request-metrics.ts";
import type { Chunk } from "../protocol/service.ts";
import { AnswerWriter } from "./answer-writer.ts";
import { echoedText, type ChoiceOutput } from "./answer.ts";
import { chatLogprobs, completionLogprobs, echoedLogprobs, inTurn } from "./logprobs.ts";

type Delta = ChatCompletionChunkChoice["delta"];

export class ChunkWriter extends AnswerWriter {
  /** Whether there has been a chunk: without one, nobody knows what the others have in common. */
  #hasStarted = false;
  /** For each choice that has begun: length of its tokens' text so far, where log-probabilities need it. */
  readonly #textLengths = new Map<number, number>();
  /** Choices whose role was said. */
  readonly #begun = new Set<number>();

  /** Takes an output that adds text and nothing else, and returns that; null: it is one for write(). */
  writeText(choice: number, output: ChoiceOutput): string | null {
    const { wantLogprobs, returnTokenIds } = this.request;
    if (output.finishReason !== null || output.reasoning !== "" || wantLogprobs || returnTokenIds) return null;
    if (this.calls) return null;
    if (!this.#hasStarted || !this.#textLengths.has(choice)) return null;
    this.usage.add(choice, output);
    return output.text;
  }

  /** Returns the chunks of one output; none if it has no text yet (an incomplete character or stop string). */
  write(choice: number, output: ChoiceOutput): Chunk[] {
    const [first, ...others] = this.#chunksOf(choice, output);
    if (first === undefined) return [];
    const isFirst = !this.#hasStarted;
    this.#hasStarted = true;
    return [isFirst && this.warnings.length > 0 ? { ...first, warnings: [...this.warnings] } : first, ...others];
  }

  #chunksOf(choice: number, output: ChoiceOutput): Chunk[] {
    const isFirst = !this.#textLengths.has(choice);
    const offset = this.#textLengths.get(choice) ?? 0;
    const echo = isFirst ? echoedLogprobs(this.request, choice, output.promptScores) : null;
    const tokenIds = [...(echo?.tokenIds ?? []), ...output.tokenIds];
    let end = offset;
    if (this.request.wantLogprobs) for (const id of tokenIds) end += this.names.tokenText(id).length;
    this.#textLengths.set(choice, end);
    this.usage.add(choice, output);

    if (this.request.endpoint === "chat.completions") {
      const deltas = this.#deltas(choice, output);
      const [first] = deltas;
      // Under tools it is said with what comes first, since that decides about the content.
      const isOpening = !this.#begun.has(choice) && (first !== undefined || this.calls === null);
      if (isOpening) this.#begun.add(choice);
      const all = isOpening ? [this.#role(choice, first?.delta), ...deltas] : deltas;
      return all.map((one) => this.#chatChunk([one]));
    }
    const echoed = isFirst ? echoedText(this.request, choice, this.names) : "";
    const reported = { ...output, text: echoed + output.text };
    const hasLogprobs = this.request.wantLogprobs && tokenIds.length > 0;
    const logprobs = hasLogprobs
      ? completionLogprobs(this.request, echo ? inTurn(echo, output) : output, this.names, offset)
      : null;
    return this.#isWorthSending(reported)
      ? [this.#completion([this.completionChoice(choice, reported, logprobs, isFirst)])]
      : [];
  }

  /**
   * Returns the stream's last chunks: those of the last output, and the usage chunk if the request wants it.
   * @param metrics for the last of them; null: the request does not want them
   */
  end(chunks: readonly Chunk[], metrics: RequestMetrics | null): Chunk[] {
    const all = this.request.includeUsage ? [...chunks, this.#usageChunk()] : [...chunks];
    const last = all.pop();
    return last === undefined ? [] : [...all, metrics === null ? last : { ...last, metrics }];
  }

  #usageChunk(): Chunk {
    const usage = this.usage.usage();
    return this.request.endpoint === "chat.completions"
      ? { ...this.#chatChunk([]), usage }
      : { ...this.#completion([]), usage };
  }

  #isWorthSending({ text, reasoning, tokenIds, finishReason }: ChoiceOutput): boolean {
    const { returnTokenIds, wantLogprobs } = this.request;
    return (
      text + reasoning !== "" || finishReason !== null || (tokenIds.length > 0 && (returnTokenIds || wantLogprobs))
    );
  }

  #role(choice: number, first: Delta = {}): ChatCompletionChunkChoice {
    return {
      index: choice,
      delta: { role: "assistant", content: first.tool_calls || first.function_call ? null : "" },
      logprobs: null,
      finish_reason: null,
      ...this.promptIds(choice),
    };
  }

  /** Returns what an output adds: at most once, but for the parts of calls. */
  #deltas(choice: number, output: ChoiceOutput): ChatCompletionChunkChoice[] {
    const calls = this.calls?.[choice];
    const { text, reasoning, finishReason } = output;
    const thought = reasoning === "" ? {} : { reasoning_content: reasoning };
    if (calls === undefined) {
      const delta = { ...thought, ...(text !== "" && { content: text }) };
      return this.#isWorthSending(output) ? [this.#delta(choice, output, delta)] : [];
    }
    const [first, ...others] = calls.push(text, finishReason !== null);
    const deltas = [{ ...thought, ...first }, ...others];
    if (first === undefined && !this.#isWorthSending({ ...output, text: "" })) return [];
    const last = finishReason && { finish_reason: calls.finishReason(finishReason) };
    return deltas.map((delta, i) => {
      const isLast = i === deltas.length - 1;
      const own = { ...output, ...(i > 0 && { tokenIds: [] }), ...(!isLast && { finishReason: null }) };
      return { ...this.#delta(choice, own, delta), ...(isLast && last) };
    });
  }

  #delta(choice: number, output: ChoiceOutput, delta: Delta): ChatCompletionChunkChoice {
    return {
      index: choice,
      delta,
      logprobs:
        this.request.wantLogprobs && output.tokenIds.length > 0
          ? { content: chatLogprobs(output, this.names, this.request) }
          : null,
      ...this.ending(output),
    };
  }

  #chatChunk(choices: ChatCompletionChunkChoice[]): ChatCompletionChunk {
    return { ...this.head, object: "chat.completion.chunk", choices };
  }

  #completion(choices: CompletionChoice[]): Completion {
    return { ...this.head, object: "text_completion", choices };
  }
}
