import type { ModelShelf } from "../../state/models/model-shelf.ts";
import { Button } from "../components/Button.tsx";
import { chooseFiles } from "../choose-files.ts";
import { classNames } from "../class-names.ts";
import { Icon } from "../components/Icon.tsx";
import { useDrop } from "../use-drop.ts";
import { useStore } from "../use-store.ts";
import { droppedFiles } from "./dropped-files.ts";

/** Loads a model from this computer: its files or folder, dropped or chosen. */
export function ModelFilesDrop({ shelf, onUsed }: { shelf: ModelShelf; onUsed: () => void }) {
  const isSwitching = useStore(shelf.store, (state) => state.switchingTo !== null);

  const run = async (given: readonly File[]) => {
    if (given.length > 0 && !isSwitching && (await shelf.useFiles(given))) onUsed();
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
