// Finds the likelihoods of an answer's words, and their alternatives, if the answer had none.

import type { PromptLogprobs } from "../../../index.ts";
import { requestFields } from "../settings/question-settings.ts";
import { withSetting } from "../settings/settings.ts";
import { tokenReader, type AnswerToken, type LikelyToken } from "./answer-tokens.ts";
import { branchedTurn } from "./branching.ts";
import { messagesFrom } from "./conversation.ts";
import type { Pane } from "./pane.ts";

const NUM_ALTERNATIVES = 5;

/** An answer of the page's own engine, whose turn is the last one. */
type OwnAnswer = NonNullable<ReturnType<typeof answerOf>>;

/** Finds the tokens of an answer from another visit, by computing its whole prompt. @throws ChorusError of the engine */
export async function scoreAnswer(pane: Pane, turnId: number): Promise<void> {
  const answer = answerOf(pane, turnId);
  if (answer !== null) pane.memory.tokens.adopt(turnId, { reasoning: [], answer: await scoredTokens(answer) });
}

/** Finds the alternatives at a token of an answer, if they are not known yet. @throws ChorusError of the engine */
export async function findLikeliest(pane: Pane, turnId: number, token: number): Promise<void> {
  const { reasoning, answer } = pane.memory.tokens.of(turnId) ?? { reasoning: [], answer: [] };
  const known = answer[token];
  // A server's token, which has no id, can't be looked up.
  if (known === undefined || known.id === null || known.likeliest.length > 0) return;
  const own = answerOf(pane, turnId);
  const before = [...reasoning, ...answer.slice(0, token)];
  const likeliest = own ? await likeliestAfter(own, before, answer.slice(0, token)) : [];
  pane.memory.tokens.setLikeliest({ turnId, token: reasoning.length + token }, likeliest);
}

function answerOf(pane: Pane, turnId: number) {
  const { turns, contextStart } = pane.store.getState();
  const { engine, settings } = pane.asking.getState();
  const at = turns.findIndex(({ id }) => id === turnId);
  const turn = turns[at];
  if (engine === null || turn === undefined) return null;
  return {
    engine,
    turns: turns.slice(0, at + 1),
    turn,
    contextStart: Math.min(contextStart, at),
    settings,
    requestId: pane.memory.requestNames.next({ pane: pane.number, turn: at + 1 }),
  };
}

/** Computes one step on the cached prefix. @param before all tokens of the answer until there; `said` those of its text */
async function likeliestAfter(
  { engine, turns, turn, contextStart, settings, requestId }: OwnAnswer,
  before: readonly AnswerToken[],
  said: readonly AnswerToken[],
): Promise<readonly LikelyToken[]> {
  const ids = before.flatMap(({ id }) => id ?? []);
  if (ids.length < before.length) return [];
  const started = branchedTurn(turn, said);
  // A continued message must have a text, though only its tokens count.
  const continued = ids.length > 0 && started.answer === "" ? { ...started, answer: " " } : started;
  // Settings for the end or the number of answers are left out.
  const { response_format: _, stop: __, n: ___, ...fields } = requestFields(withSetting(settings, "beams", null));
  const stream = await engine.chat.completions.create({
    ...fields,
    messages: messagesFrom([...turns.slice(0, -1), continued], contextStart, settings.system),
    ...(ids.length > 0 && { continue_final_message: true, final_message_token_ids: ids }),
    max_tokens: 1,
    logprobs: true,
    top_logprobs: NUM_ALTERNATIVES,
    return_tokens_as_token_ids: true,
    request_id: requestId,
    stream: true,
  });
  const read = tokenReader();
  for await (const { choices } of stream) {
    const [token] = read(choices[0]?.logprobs?.content ?? []);
    if (token) return token.likeliest;
  }
  return [];
}

async function scoredTokens({ engine, turns, turn, requestId, ...own }: OwnAnswer): Promise<AnswerToken[]> {
  const { choices, prompt_logprobs: scores = [] } = await engine.chat.completions.create({
    messages: messagesFrom(turns, own.contextStart, own.settings.system),
    continue_final_message: true,
    max_tokens: 1,
    prompt_logprobs: NUM_ALTERNATIVES,
    return_token_ids: true,
    request_id: requestId,
  });
  const ids = choices[0]?.prompt_token_ids ?? [];
  const tokens: AnswerToken[] = [];
  let length = 0;
  // The answer ends the prompt. Templates may trim it.
  for (let place = ids.length - 1; place >= 0 && length < turn.answer.trim().length; place--) {
    const token = scoredToken(ids[place] ?? 0, scores[place] ?? {});
    length += tokens.length === 0 && length === 0 ? token.text.trimEnd().length : token.text.length;
    tokens.unshift(token);
  }
  return tokens;
}

function scoredToken(id: number, scores: NonNullable<PromptLogprobs[number]>): AnswerToken {
  const likeliest = Object.entries(scores)
    .map(([other, { logprob, decoded_token: text }]) => ({ id: Number(other), text, logprob }))
    .sort((a, b) => b.logprob - a.logprob);
  const { text = "", logprob = 0 } = likeliest.find((other) => other.id === id) ?? {};
  return { id, text, logprob, likeliest: likeliest.slice(0, NUM_ALTERNATIVES) };
}
