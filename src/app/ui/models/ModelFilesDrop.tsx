import { useStore } from "zustand";
import type { ModelLibrary } from "../../state/models/model-library.ts";
import { Button, Icon } from "../components/Button.tsx";
import { useClose } from "../components/Dialog.tsx";
import { chooseFiles } from "../choose-files.ts";
import { classNames } from "../class-names.ts";
import { useDrop } from "../use-drop.ts";

/** Loads a model from this computer: its files or folder, dropped or chosen. */
export function ModelFilesDrop({ library }: { library: ModelLibrary }) {
  const close = useClose();
  const isSwitching = useStore(library.store, (state) => state.switchingTo !== null);

  const run = async (given: readonly File[]) => {
    if (given.length > 0 && !isSwitching && (await library.useFiles(given))) close();
  };
  const choose = (options: Parameters<typeof chooseFiles>[1]) => chooseFiles((given) => void run(given), options);
  const { isOver, handlers } = useDrop((data) => void droppedFiles(data).then(run));
  return (
    <section className="stack content-start gap-2" aria-label="Add from this computer">
      <p className="font-semibold">Add from this computer</p>
      {/* oxlint-disable-next-line jsx-a11y/no-static-element-interactions */}
      <div
        className={classNames(
          "row flex-wrap rounded-md border border-dashed border-control bg-surface py-1.5 pr-1.5 pl-2.5",
          isOver && "border-solid border-ink bg-surface-3",
        )}
        {...handlers}
      >
        <p className="row min-h-0 min-w-0 flex-1 text-ink-2 max-sm:basis-full">
          <Icon name="folder" />
          Drop a model's folder here, or choose
        </p>
        <Button disabled={isSwitching} onClick={() => choose({ webkitdirectory: true })}>
          Folder …
        </Button>
        <Button disabled={isSwitching} onClick={() => choose({ multiple: true })}>
          Files …
        </Button>
      </div>
      <p className="small">
        A GGUF file; or config.json, tokenizer.json, model.safetensors or its parts. Files aren&rsquo;t copied; choose
        them again after a reload.
      </p>
    </section>
  );
}

/** Returns the dropped files and the files in dropped folders. Must be called before anything is awaited. */
async function droppedFiles(data: DataTransfer): Promise<File[]> {
  const dropped = [...data.items].map((item) => item.webkitGetAsEntry() ?? item.getAsFile());
  const files = await Promise.all(dropped.map(filesOf));
  return files.flat();
}

/** Returns the files directly in a folder, where a model's files are. */
async function filesOf(entry: FileSystemEntry | File | null): Promise<File[]> {
  if (entry === null) return [];
  if (entry instanceof File) return [entry];
  if (entry.isFile) return [await fileOf(entry)];
  const inside = await allEntries((entry as FileSystemDirectoryEntry).createReader());
  return Promise.all(inside.filter(({ isFile }) => isFile).map(fileOf));
}

/** A reader returns some entries at a time, and none at the end. */
async function allEntries(reader: FileSystemDirectoryReader): Promise<FileSystemEntry[]> {
  const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
  return some.length === 0 ? [] : [...some, ...(await allEntries(reader))];
}

function fileOf(entry: FileSystemEntry): Promise<File> {
  return new Promise((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
}
