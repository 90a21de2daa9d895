import type { Pane } from "../../state/chat/pane.ts";
import { oneLine } from "../../state/one-line.ts";
import { focusMessageOf } from "../chat/Composer.tsx";
import { CHATS, inGroup, type Action, type ActionContext, type GroupedAction } from "./action.ts";

const SHOWN_LENGTH = 60;

const draftOf = (pane: Pane) => pane.store.getState().draft.trim();

/** Returns the actions that save the current draft as a prompt, and insert and delete each saved one. */
export function promptActions({ prompts }: ActionContext): Readonly<Record<string, Action>> {
  const saved = prompts.store.getState();
  const insert = (text: string, { pane }: ActionContext) => {
    // The written text is not lost: the prompt goes before it.
    const draft = draftOf(pane);
    pane.setDraft([text, draft === text ? "" : draft].filter(Boolean).join("\n"));
    focusMessageOf(pane);
  };
  const remove = (text: string, { app }: ActionContext) => {
    prompts.remove(text);
    const undo = () => {
      prompts.add(text);
      return true;
    };
    app.workspace.undoList.add({ title: "Prompt deleted", undo });
  };
  const ofEach = (id: string, verb: string, run: (text: string, context: ActionContext) => void) =>
    saved.map((text, index): [string, GroupedAction] => [
      `prompt.${id}.${index}`,
      {
        title: `${verb} prompt: ${oneLine(text, SHOWN_LENGTH)}`,
        words: `saved ${text}`,
        run: (context) => run(text, context),
      },
    ]);
  return {
    ...inGroup("Chats", CHATS, {
      "prompt.save": {
        title: "Save this draft as a prompt",
        keys: "Alt+S",
        words: "saved prompts template library snippets",
        when: ({ pane }) => ![...saved, ""].includes(draftOf(pane)),
        run: ({ app, pane }) => {
          prompts.add(draftOf(pane));
          app.workspace.undoList.notify("Prompt saved: the list of commands inserts it");
        },
      },
    }),
    ...inGroup(
      "Prompts",
      CHATS,
      Object.fromEntries([...ofEach("insert", "Insert", insert), ...ofEach("delete", "Delete", remove)]),
    ),
  };
}
