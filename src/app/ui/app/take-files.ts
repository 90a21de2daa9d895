import type { AppState } from "../../state/app/app-state.ts";
import { attachText, isExport } from "../../state/chat/attached-text.ts";
import type { Pane } from "../../state/chat/pane.ts";
import { playRecording } from "../../state/player/pending-recording.ts";
import { focusMessageOf, showEndOfMessage } from "../chat/Composer.tsx";
import { formatCounted } from "../format.ts";

const MODEL_FILE = /\.(?:safetensors|gguf|bin|onnx)$/i;

/** Plays a recording, offers to import exported chats or use a model's files, and puts other files' text into the question. */
export async function takeFiles({ workspace, library }: AppState, pane: Pane, files: readonly File[]): Promise<void> {
  const { undoList } = workspace;
  const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
  const model = files.find(({ name }) => MODEL_FILE.test(name));
  if (model) {
    const run = async () => {
      await library.useFiles(files);
      // Where another model was chosen meanwhile there is nothing to say.
      const { error } = library.store.getState();
      if (error) undoList.notify(error.message);
    };
    return undoList.notify(`${model.name} is a model’s file`, { label: "Use this model", run });
  }
  const refusals: string[] = [];
  for (const file of files) {
    // oxlint-disable-next-line no-await-in-loop -- each takes its place behind the one before
    await take(file).catch((error: unknown) => refusals.push(reasonOf(error)));
  }
  const [first] = refusals;
  if (first !== undefined)
    undoList.notify(
      refusals.length === 1 ? first : `${refusals.length} of ${files.length} files were left out. ${first}`,
    );
  // Reading takes a while: who writes elsewhere by now isn't interrupted.
  const { activeElement, body } = document;
  if (activeElement === body || activeElement?.closest(`section[aria-label="Pane ${pane.number}"]`))
    focusMessageOf(pane);

  async function take(file: File): Promise<void> {
    const { name } = file;
    if (name.endsWith(".jsonl")) return playRecording(name, await file.text());
    const hasChats = await isExport(file).catch(() => {
      throw new Error(`${name} can't be read. A model's folder is opened in the list of models: drop it there.`);
    });
    if (hasChats) {
      const importAll = async () => {
        const { importChats, readImport } = await import("../../state/workspace/export-chats.ts");
        await importChats(workspace, await readImport(file));
      };
      const fail = (error: unknown) => undoList.notify(`${name}: ${reasonOf(error)} Nothing was changed.`);
      const offer = { label: "Import", run: () => importAll().catch(fail) };
      return undoList.notify(`${name} has chats that Chorus exported`, offer);
    }
    undoList.notify(`Reading ${name} …`);
    const { numTokens, cut } = await attachText(pane, file);
    if (!workspace.store.getState().panes.includes(pane)) {
      throw new Error(`${name} was for a pane that has been closed or has another chat now. Drop it again.`);
    }
    const { answerer } = pane.asking.getState();
    const facts = [numTokens !== null && formatCounted(numTokens, "token"), cut].filter(Boolean).join(", ");
    undoList.notify(`${name} goes to ${answerer}${facts && `: ${facts}`}`);
    showEndOfMessage(pane);
  }
}
