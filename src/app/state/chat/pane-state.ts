import { randomId } from "../../../index.ts";
import type { RemoteModel } from "../../remote/answerer.ts";
import { resumed, type NamedChat, type SavedChat } from "../workspace/saved-workspace.ts";
import type { Note } from "./note.ts";
import type { Figures } from "./request-stats.ts";
import type { TurnTree } from "./turn-tree.ts";

export interface Conversation extends TurnTree {
  readonly contextStart: number;
}

export interface PaneState extends Omit<SavedChat, "answerer" | "askedMs" | "inactiveTurns">, Conversation {
  readonly id: string;
  /** When the newest question was asked, milliseconds since 1970. Null: unknown. */
  readonly askedMs: number | null;
  /** Null: this page's engine. */
  readonly answerer: RemoteModel | null;
  /**
   * idle: a question can be asked. held: a question waits until an engine is ready. queued: the answerer has it and has not
   * answered yet. streaming: the last turn's answer grows. calling: tools run.
   */
  readonly phase: "idle" | "held" | "queued" | "streaming" | "calling";
  /** Ids of the calls that run. */
  readonly calling: readonly string[];
  readonly note: Note | null;
  /** Figures of the newest answer. */
  readonly figures: Figures | null;
}

export const EMPTY: SavedChat = { title: null, settings: {}, turns: [], contextStart: 0, draft: "" };

export function openedState(chat: SavedChat): PaneState {
  const { id = randomId(), inactiveTurns = [], askedMs = null, answerer = null, ...rest } = resumed(chat);
  const { title, settings, turns, contextStart, draft } = rest;
  const saved = { id, title, settings, turns, inactiveTurns, contextStart, draft, askedMs, answerer };
  return { ...saved, phase: "idle", calling: [], note: null, figures: null };
}

export function savedChatOf(state: PaneState): NamedChat {
  const { phase: _, calling: __, note: ___, figures: ____, inactiveTurns, askedMs, answerer, ...chat } = state;
  return {
    ...chat,
    ...(inactiveTurns.length > 0 && { inactiveTurns }),
    ...(askedMs !== null && { askedMs }),
    ...(answerer && { answerer }),
  };
}
