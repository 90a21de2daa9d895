import type { Pane } from "../../state/chat/pane.ts";
import type { SavedPrompts } from "../../state/chat/saved-prompts.ts";
import type { Command } from "../../state/commands/commands.ts";
import { oneLine } from "../../state/history/closed-chat.ts";
import type { Workspace } from "../../state/workspace/workspace.ts";

const SHOWN_LENGTH = 60;

/** The commands that save the current draft as a prompt, and insert and delete each saved one. @param focus focuses its message box */
export function promptCommands(
  { store, undoList }: Workspace,
  prompts: SavedPrompts,
  saved: readonly string[],
  focus: (pane: Pane) => void,
): readonly Command[] {
  const current = () => store.getState().panes.find(({ number }) => number === store.getState().current);
  const draftOf = (pane: Pane | undefined) => pane?.store.getState().draft.trim() ?? "";
  const insert = (text: string) => {
    const pane = current();
    if (!pane) return;
    // The written text is not lost: the prompt goes before it.
    const draft = draftOf(pane);
    pane.setDraft([text, draft === text ? "" : draft].filter(Boolean).join("\n"));
    focus(pane);
  };
  const remove = (text: string) => {
    prompts.remove(text);
    const undo = () => {
      prompts.add(text);
      return true;
    };
    undoList.add({ title: "Prompt deleted", undo });
  };
  const ofEach = (id: string, verb: string, run: (text: string) => void) =>
    saved.map((text, index): Command => ({
      id: `prompt.${id}.${index}`,
      title: `${verb} prompt: ${oneLine(text, SHOWN_LENGTH)}`,
      group: "Prompts",
      words: `saved ${text}`,
      run: () => run(text),
    }));
  return [
    {
      id: "prompt.save",
      title: "Save this draft as a prompt",
      group: "Chats",
      keys: "Alt+S",
      words: "saved prompts template library snippets",
      isEnabled: () => ![...saved, ""].includes(draftOf(current())),
      run: () => {
        prompts.add(draftOf(current()));
        undoList.notify("Prompt saved: the list of commands inserts it");
      },
    },
    ...ofEach("insert", "Insert", insert),
    ...ofEach("delete", "Delete", remove),
  ];
}
