import type { ChatTool } from "../../../index.ts";
import type { Answerer } from "../../remote/answerer.ts";
import { messagesFrom, type Turn } from "./conversation.ts";

export type Tokenize = NonNullable<Answerer["tokenize"]>;

/** The next question's share of the model's context, in tokens. */
export interface ContextUse {
  readonly draftTokens: number;
  /** Tokens of the whole prompt; null while an answer grows. */
  readonly promptTokens: number | null;
  /** The model's context: prompt and answer together. */
  readonly contextTokens: number;
  /** Turns before this one will not be sent. */
  readonly contextStart: number;
}

export async function tokensOf(text: string, tokenize: Tokenize): Promise<number> {
  return text === "" ? 0 : (await tokenize({ prompt: text, add_special_tokens: false })).count;
}

export type ContextCut = ReturnType<typeof contextCut>;

/**
 * Finds where a chat must be cut for the next question to fit into the model's context. Each count is made once, so that
 * another question after the same turns costs nothing more.
 * @param turns the turns before the question
 */
export function contextCut(
  turns: readonly Turn[],
  system: string,
  tokenize: Tokenize,
  tools: readonly ChatTool[] = [],
) {
  const counts = new Map<number, number>();

  /** Returns the tokens of the prompt with the turns from `first` on and an empty question. */
  const tokensFrom = async (first: number): Promise<number> => {
    const known = counts.get(first);
    if (known !== undefined) return known;
    const question = { id: -1, question: "", answer: "", end: null };
    const messages = messagesFrom([...turns, question], first, system);
    const { count } = await tokenize({ messages, ...(tools.length > 0 && { tools }) });
    counts.set(first, count);
    return count;
  };

  /**
   * Returns the first turn, from `contextStart` on, with which the prompt has at most `limitTokens`; the number of turns if
   * none fits. It goes back from the newest turn in growing strides, so that it counts little more than the result.
   */
  const firstThatFits = async (contextStart: number, questionTokens: number, limitTokens: number): Promise<number> => {
    const fits = async (first: number) => (await tokensFrom(first)) + questionTokens <= limitTokens;
    let fitting = turns.length;
    let tooLong = contextStart - 1;
    for (let stride = 1; fitting > contextStart; stride *= 2) {
      const next = Math.max(contextStart, fitting - stride);
      // oxlint-disable-next-line no-await-in-loop -- each count decides about the next
      if (await fits(next)) fitting = next;
      else {
        tooLong = next;
        break;
      }
    }
    while (fitting - tooLong > 1 && tooLong >= contextStart) {
      const middle = Math.floor((fitting + tooLong) / 2);
      // oxlint-disable-next-line no-await-in-loop -- each count decides about the next
      if (await fits(middle)) fitting = middle;
      else tooLong = middle;
    }
    return fitting;
  };
  return { turns, system, tools, tokensFrom, firstThatFits };
}
