import { allowedTokens } from "./sampling/grammar-matcher.ts";
import { hasRules } from "./sampling/logit-rules.ts";
import type { ScheduledSequence, Sequence } from "./sequence.ts";
import {
  FEEDBACK,
  ROW_WORDS,
  type DrawNeeds,
  type DrawnToken,
  type PlannedSequence,
  type Sample,
  type SlotRules,
  type SlotUpdate,
  type StepPlan,
} from "./step-plan.ts";

/** The runner's state of a slot, from its sequence's admission to its end or preemption. */
interface Slot {
  readonly sequence: Sequence;
  /** The sequence's own table. It gets another one at each admission; until then blocks are only added. */
  readonly blockTable: readonly number[];
  /** Entries of the table that the runner has. */
  numBlocks: number;
  readonly isProcessed: boolean;
  /** Position of the token that was drawn last, if its row may use FEEDBACK; else -1. */
  feedbackPosition: number;
}

/** Mutable parts of a plan that is being made. */
interface Draft {
  readonly rows: Uint32Array<ArrayBuffer>;
  numRows: number;
  readonly samples: Sample[];
  readonly masks: Uint32Array<ArrayBuffer>[];
}

/**
 * Turns scheduled sequences into a plan that refers to nothing of them but their parameters. It remembers what runners keep
 * per slot, so that a plan says only what has changed.
 */
export class StepPlanner {
  readonly #slots: (Slot | undefined)[] = [];

  plan(step: readonly ScheduledSequence[]): StepPlan {
    let numRows = 0;
    for (const { count } of step) numRows += count;
    const draft: Draft = { rows: new Uint32Array(numRows * ROW_WORDS), numRows: 0, samples: [], masks: [] };
    const sequences: PlannedSequence[] = [];
    const blockTables: SlotUpdate[] = [];
    const histories: SlotUpdate[] = [];
    const rules: SlotRules[] = [];
    for (const scheduled of step) {
      const { sequence, start, count, samples, drafts, scored, state } = scheduled;
      const number = slotOf(sequence);
      const known = this.#slots[number];
      const isNew = known?.sequence !== sequence || known.blockTable !== sequence.blockTable;
      const slot = isNew ? (this.#slots[number] = newSlot(sequence)) : known;
      updateBlockTable(slot, number, blockTables);
      if (slot.isProcessed) updateHistory(scheduled, number, isNew, histories);
      if (slot.isProcessed && isNew) rules.push({ slot: number, rules: sequence.params });
      const firstRow = draft.numRows;
      addRows(draft, scheduled, number, slot.feedbackPosition);
      for (let i = 0; i < scored; i++) {
        const tokenId = knownToken(sequence, start + i + 1);
        const numTop = sequence.params.promptLogprobs ?? 0;
        draft.samples.push({ kind: "score", row: firstRow + i, slot: number, tokenId, numTop });
      }
      const numDrawn = samples ? 1 + drafts.length : 0;
      for (let i = numDrawn; i > 0; i--) {
        draft.samples.push(drawn(draft, slot, number, draft.numRows - i, start + count + 1 - i));
      }
      // After drafts, and in beam search, the engine chooses among the samples and brings the token itself.
      if (samples) slot.feedbackPosition = numDrawn === 1 && sequence.group === null ? start + count : -1;
      sequences.push({ slot: number, start, numRows: count, numScored: scored, numDrawn, state });
    }
    const { rows, samples, masks } = draft;
    return { sequences, rows, samples, blockTables, histories, rules, masks };
  }
}

export function drawNeeds({ params, group, matcher }: Sequence): DrawNeeds {
  return {
    kind: "draw",
    params,
    isProcessed: group !== null || matcher !== null || hasRules(params),
    numTop: Math.max(params.topLogprobs, params.promptLogprobs ?? 0),
  };
}

function newSlot(sequence: Sequence): Slot {
  const { isProcessed } = drawNeeds(sequence);
  return { sequence, blockTable: sequence.blockTable, numBlocks: 0, isProcessed, feedbackPosition: -1 };
}

function addRows(draft: Draft, scheduled: ScheduledSequence, slot: number, feedbackPosition: number): void {
  const { sequence, start, count, drafts } = scheduled;
  const end = start + count;
  const firstDraft = end - drafts.length;
  for (let position = start; position < end; position++) {
    const known = position === feedbackPosition ? FEEDBACK : drafts[position - firstDraft];
    const at = draft.numRows++ * ROW_WORDS;
    draft.rows[at] = known ?? knownToken(sequence, position);
    draft.rows[at + 1] = position;
    draft.rows[at + 2] = slot;
    draft.rows[at + 3] = start;
  }
}

/** @param position position of the drawn token */
function drawn(draft: Draft, slot: Slot, number: number, row: number, position: number): DrawnToken {
  const { sequence, isProcessed } = slot;
  const { params, matcher, promptLength } = sequence;
  const outputIndex = position - promptLength;
  const mask = matcher && draft.masks.push(allowedTokens(matcher, params, outputIndex)) - 1;
  return {
    kind: "draw",
    row,
    slot: number,
    numTop: params.topLogprobs,
    outputIndex,
    promptLength,
    params,
    isProcessed,
    isTooEarly: matcher === null && outputIndex < params.minTokens,
    isNormalised: sequence.group !== null,
    mask,
  };
}

function updateBlockTable(slot: Slot, number: number, updates: SlotUpdate[]): void {
  const { blockTable, numBlocks: start } = slot;
  if (start === blockTable.length) return;
  updates.push({ slot: number, start, values: blockTable.slice(start) });
  slot.numBlocks = blockTable.length;
}

/** Adds tokens that the runner did not draw by itself: drafts, and the candidates that beams went on with. */
function updateHistory(scheduled: ScheduledSequence, slot: number, isNew: boolean, updates: SlotUpdate[]): void {
  const { sequence, drafts } = scheduled;
  const { tokens, group } = sequence;
  if (isNew || group !== null) updates.push({ slot, start: 0, values: [...tokens, ...drafts] });
  else if (drafts.length > 0) updates.push({ slot, start: tokens.length, values: drafts });
}

function knownToken(sequence: Sequence, position: number): number {
  const token = sequence.tokens[position];
  if (token === undefined) throw new Error(`token ${position} of ${sequence.requestId}#${sequence.index} is not known`);
  return token;
}

function slotOf(sequence: Sequence): number {
  if (sequence.slot === null)
    throw new Error(`sequence ${sequence.requestId}#${sequence.index} is scheduled without a slot`);
  return sequence.slot;
}
