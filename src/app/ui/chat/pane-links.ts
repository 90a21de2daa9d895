import { flushSync } from "react-dom";
import type { Batch } from "../../state/batch/batch.ts";
import type { AppState } from "../../state/app/app-state.ts";
import type { Pane } from "../../state/chat/pane.ts";
import type { TokenLookup } from "../batch/cell-facts.ts";
import { focusMessageOf } from "./Composer.tsx";

/** Returns a function that focuses the pane of a request; null if the pane was closed or belongs to the demo. */
export type PaneLinks = (requestId: string) => (() => void) | null;

/** A batch that is shown, with the way from its sequences to their chats, and the words of its tokens. */
export interface BatchView {
  readonly batch: Batch;
  readonly linkTo: PaneLinks;
  readonly tokenOf: TokenLookup;
}

type ChatsAndBatch = Pick<AppState, "workspace" | "batch">;

export function linksTo(panes: readonly Pane[], app: ChatsAndBatch): PaneLinks {
  return (requestId) => {
    const pane = panes.find((each) => each.memory.requestNames.has(requestId));
    return pane ? () => showPane(app, pane) : null;
  };
}

/** Renders a pane before focusing its box: on a phone it was not in the page. */
export function showPane({ workspace, batch }: ChatsAndBatch, pane: Pane): void {
  flushSync(() => {
    workspace.select(pane.number);
    batch.dock.show(false);
  });
  focusMessageOf(pane);
}

export function tokensIn(panes: readonly Pane[]): TokenLookup {
  return (output) => {
    const pane = panes.find(({ memory }) => memory.requestNames.has(output.requestName));
    const place = pane?.memory.tokens.placeOf(output);
    return (place && pane?.memory.tokens.tokenAt(place)) ?? null;
  };
}
