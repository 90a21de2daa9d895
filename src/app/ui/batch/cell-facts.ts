import type { OutputPlace } from "../../state/chat/answer-tokens.ts";
import { paneTurnOf, nameIn, type PaneTurn } from "../../state/chat/request-name.ts";
import type { Timeline, Track, Cell } from "../../state/batch/timeline.ts";
import { formatCount, formatCounted, formatMs, plural } from "../format.ts";
import { formatShare, visibleToken } from "../token-text.ts";
import type { SequenceId } from "../../../index.ts";

/** Returns a token of an answer; null if it is unknown here. `logprob` is null if its probability is unknown. */
export type TokenLookup = (place: OutputPlace) => { readonly text: string; readonly logprob: number | null } | null;

export type CellFacts = Readonly<ReturnType<typeof factsOf>>;

/** @param track the cell's sequence */
export function factsOf(timeline: Timeline, track: Track, step: number, tokenOf: TokenLookup) {
  const { from, to } = track.outputsAt(step) ?? { from: 0, to: 0 };
  const requestName = nameIn(track.id.requestId);
  const tokens = Array.from({ length: to - from }, (_, i) => tokenOf({ requestName, output: from + i }));
  const stepMs = timeline.rowsOf(step)?.stepMs;
  return {
    /** The tokens it made, with their probabilities if known; empty if it made none, or they are unknown. */
    tokens: tokens.flatMap((token) => {
      if (token === null) return [];
      const { logprob } = token;
      return [{ text: visibleToken(token), share: logprob === null ? "" : formatShare({ logprob }) }];
    }),
    sequence: sequenceName(track.id),
    what: cellWords(track.cellAt(step)),
    /** Its number and time. */
    step: `Step ${formatCount(step)}${stepMs === undefined ? "" : `, ${formatMs(stepMs)} ms`}`,
    /** The other sequences of the step; empty if this one had no part in it. */
    others: isComputedIn(track, step) ? othersIn(timeline, track, step) : "",
  };
}

/** Returns a token's step, its time and its other sequences; empty if it is forgotten. */
export function stepWords(timeline: Timeline, { requestName, output }: OutputPlace): string {
  const track = timeline.findTrack(({ requestId, index }) => index === 0 && nameIn(requestId) === requestName);
  const step = track?.stepOf(output) ?? null;
  if (!track || step === null) return "";
  const facts = factsOf(timeline, track, step, () => null);
  return [facts.step, facts.others].filter((words) => words !== "").join(", ");
}

export function cellSentence({ tokens, sequence, what, step, others }: CellFacts): string {
  const made = tokens.map(({ text, share }) => `“${text}”${share === "" ? "" : ` ${share}`}, `).join("");
  return `${sequence}. ${step}: ${made}${what}${others === "" ? "" : `, ${others}`}`;
}

function isComputedIn(track: Track, step: number): boolean {
  const kind = track.cellAt(step)?.kind;
  return kind === "prompt" || kind === "decode" || kind === "drafted";
}

function othersIn(timeline: Timeline, track: Track, step: number): string {
  const others = timeline.tracksIn(step, step).filter((other) => other !== track && isComputedIn(other, step));
  const panes = [...new Set(others.flatMap(({ id }) => paneTurnOf(id.requestId)?.pane ?? []))].sort((a, b) => a - b);
  const numUnnamed = others.filter(({ id }) => paneTurnOf(id.requestId) === null).length;
  const names = [
    ...(panes.length > 0 ? [`${plural(panes.length, "Pane")} ${panes.join(", ")}`] : []),
    ...(numUnnamed > 0 ? [formatCounted(numUnnamed, "other request")] : []),
  ];
  return names.length === 0 ? "alone in its step" : `shared with ${names.join(" and ")}`;
}

/** Returns "Pane 3, turn 2", or the id of a request that no pane asked. */
export function sequenceName({ requestId, index }: SequenceId): string {
  const paneTurn = paneTurnOf(requestId);
  const choice = index > 0 ? `, choice ${index + 1}` : "";
  return (paneTurn ? `Pane ${paneTurn.pane}, ${turnName(paneTurn)}` : `Request ${requestId.slice(0, 24)}`) + choice;
}

/** Returns a turn's name; the demo warms up before the first turn of its panes. */
export function turnName({ turn }: PaneTurn): string {
  return turn === 0 ? "warm-up" : `turn ${turn}`;
}

const ENDINGS = { stop: "finished", length: "finished: reached the length limit", abort: "stopped" } as const;

export function cellWords(cell: Cell | undefined): string {
  switch (cell?.kind) {
    case "prompt": {
      const cached = cell.cachedTokens > 0 ? `, ${formatCount(cell.cachedTokens)} found in the cache` : "";
      return `prompt, ${formatCounted(cell.rows, "token")} computed${cached}`;
    }
    case "decode":
      return `decode, token ${formatCount(cell.start + 1)}`;
    case "drafted": {
      const tokens = formatCounted(cell.drafted, "drafted token");
      return `decode from token ${formatCount(cell.start + 1)} on, with ${tokens}, ${formatCount(cell.accepted)} accepted`;
    }
    case "waiting":
      return "waiting";
    case "preempted":
      return "preempted: gave its blocks up, and will be computed again";
    case "finished":
      return ENDINGS[cell.reason];
    case undefined:
      return "no part in this step";
  }
}
