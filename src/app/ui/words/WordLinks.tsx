import { useEffect } from "react";
import type { AppState } from "../../state/app/app-state.ts";
import { useApp } from "../app/page-context.ts";
import type { Pane } from "../../state/chat/pane.ts";
import type { Pointed } from "../../state/batch/pointing.ts";
import { listen } from "../listen.ts";
import { markText, ownersIn, rangeOf, rangeOfToken, tokenAt } from "./marked-text.ts";

const TEXTS = "[data-answer], [data-thoughts]";

/** Links the chats' words and the batch: each marks what is pointed at in the other. Nothing is computed for other words. */
export function WordLinks() {
  const app = useApp();
  useEffect(() => {
    return showPointed(app);
  }, [app]);
  useEffect(() => {
    return markPointed(app);
  }, [app]);
  return null;
}

/** Finds the token under the mouse or pen, once per frame, and marks it, also while the text still grows. */
function showPointed({ batch: { pointing, dock }, workspace }: AppState): () => void {
  let frame = 0;
  let last: PointerEvent | null = null;
  let unmark = () => {};
  const leave = () => {
    unmark();
    unmark = () => {};
    pointing.leave("words");
  };
  const markToken = () => {
    const root = last && textUnder(last);
    // A folded batch marks nothing. Words with cards point by themselves.
    if (!last || !root || root.dataset["card"] !== undefined || !dock.store.getState().isOpen) return leave();
    const text = textOf(workspace.store.getState().panes, root);
    const token = text && tokenAt(root, text.tokens, last.clientX, last.clientY);
    if (!text || token === null) return leave();
    const output = text.pane.memory.tokens.outputOf({ turnId: text.turnId, token: text.first + token });
    if (output === null) return leave();
    unmark();
    const range = rangeOfToken(root, text.tokens, token);
    const clear = range ? markText(range, "pointed") : () => {};
    const off = afterTexts(text.pane, markToken);
    unmark = () => {
      off();
      clear();
    };
    const { requestName, output: from } = output;
    pointing.point({ requestName, index: 0, from, to: from + 1, by: "words" });
  };
  const move = (event: PointerEvent) => {
    if (event.pointerType === "touch") return;
    const isNear = textUnder(event) !== null || (last !== null && textUnder(last) !== null);
    last = event;
    if (!isNear || frame !== 0) return;
    frame = requestAnimationFrame(() => {
      frame = 0;
      markToken();
    });
  };
  const stop = listen(document, { pointermove: move }, { passive: true });
  return () => {
    stop();
    cancelAnimationFrame(frame);
    leave();
  };
}

/** Returns the text of an event's target; null if it has none, or it is gone. */
function textUnder({ target }: PointerEvent): HTMLElement | null {
  return target instanceof Element ? target.closest<HTMLElement>(TEXTS) : null;
}

/** Marks tokens in the text that are pointed at elsewhere, also while the text still grows. */
function markPointed({ batch: { pointing }, workspace }: AppState): () => void {
  let stop = () => {};
  const follow = (pointed: Pointed | null) => {
    stop();
    stop = () => {};
    if (pointed === null || pointed.by === "words" || pointed.by === "card") return;
    const pane = workspace.store.getState().panes.find(({ memory }) => memory.requestNames.has(pointed.requestName));
    if (!pane || pointed.index > 0) return;
    let unmark = markIn(pane, pointed);
    const off = afterTexts(pane, () => {
      unmark();
      unmark = markIn(pane, pointed);
    });
    stop = () => {
      off();
      unmark();
    };
  };
  const off = pointing.store.subscribe(follow);
  return () => {
    off();
    stop();
  };
}

/** Calls back after a pane's texts were rendered again, which removes marks. Returns the function that ends it. */
function afterTexts(pane: Pane, call: () => void): () => void {
  let isOver = false;
  const off = pane.store.subscribe((state, before) => {
    // React writes the text in a microtask before this one.
    if (state.turns !== before.turns) queueMicrotask(() => isOver || call());
  });
  return () => {
    isOver = true;
    off();
  };
}

function markIn(pane: Pane, { requestName, from, to }: Pointed): () => void {
  const place = pane.memory.tokens.placeOf({ requestName, output: from });
  const section = document.querySelector(`[data-pane="${pane.number}"]`);
  const undo = [...(place && section ? section.querySelectorAll<HTMLElement>(TEXTS) : [])].flatMap((root) => {
    const text = textOf([pane], root);
    if (!text || !place || text.turnId !== place.turnId) return [];
    const first = place.token - text.first;
    const owners = ownersIn(root, text.tokens);
    const isMarked = (token: number) => token >= first && token < first + to - from;
    const start = owners.findIndex(isMarked);
    const range = start < 0 ? null : rangeOf(root, start, owners.findLastIndex(isMarked) + 1);
    return range ? [markText(range)] : [];
  });
  return () => {
    for (const unmark of undo) unmark();
  };
}

/** Returns the tokens of an answer, or of the thoughts before it, and how many of the turn's come before them; null if unknown. */
function textOf(panes: readonly Pane[], root: HTMLElement) {
  const { answer, thoughts } = root.dataset;
  const number = Number(root.closest<HTMLElement>("[data-pane]")?.dataset["pane"]);
  const pane = panes.find((each) => each.number === number);
  const turnId = Number(answer ?? thoughts);
  const turnTokens = pane?.memory.tokens.of(turnId);
  if (!pane || !turnTokens) return null;
  if (thoughts !== undefined) return { pane, turnId, tokens: turnTokens.reasoning, first: 0 };
  return { pane, turnId, tokens: turnTokens.answer, first: turnTokens.reasoning.length };
}
