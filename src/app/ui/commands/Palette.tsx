import { Fragment, useEffect, useMemo, useRef, useState, type KeyboardEvent } from "react";
import { findCommands, type Command, type Commands } from "../../state/commands/commands.ts";
import { Dialog } from "../components/Dialog.tsx";
import { Icon } from "../components/Icon.tsx";
import { Keys } from "./Keys.tsx";
import { formatCounted } from "../format.ts";
import css from "./Palette.module.css";
import { useCommands } from "./use-commands.ts";

/** The command palette: a combobox over the list of commands, in a dialog. */
export function Palette({ commands }: { commands: Commands }) {
  const dialog = useRef<HTMLDialogElement>(null);
  /** The commands that were enabled when the palette was opened; null: it is closed. Each opening mounts a new list. */
  const [opening, setOpening] = useState<{ readonly key: number; readonly enabled: readonly Command[] } | null>(null);

  const own = useMemo(
    (): readonly Command[] => [
      {
        id: "palette.open",
        title: "Show all commands",
        group: "Help",
        keys: "Mod+K",
        run: () => {
          const enabled = commands.enabled().filter(({ id }) => id !== "palette.open");
          setOpening((last) => ({ key: (last?.key ?? 0) + 1, enabled }));
          dialog.current?.showModal();
        },
      },
    ],
    [commands],
  );
  useCommands(commands, own);

  const run = (command: Command) => {
    // Closing first returns the focus, so that the command finds the page as it was.
    dialog.current?.close();
    command.run();
  };
  return (
    <Dialog ref={dialog} name="Commands" className={css.palette} onClosed={() => setOpening(null)}>
      {opening && (
        <CommandList key={opening.key} enabled={opening.enabled} onRun={run} onClose={() => dialog.current?.close()} />
      )}
    </Dialog>
  );
}

const optionId = (command: Command) => `command-${command.id}`;

interface CommandListProps {
  enabled: readonly Command[];
  onRun: (command: Command) => void;
  onClose: () => void;
}

function CommandList({ enabled, onRun, onClose }: CommandListProps) {
  const [query, setQuery] = useState("");
  const [at, setAt] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  const found = findCommands(enabled, query);
  const selected = found[at];

  useEffect(() => {
    input.current?.focus();
  }, []);
  useEffect(() => {
    if (selected) document.getElementById(optionId(selected))?.scrollIntoView({ block: "nearest" });
  }, [selected]);

  const onKeyDown = (event: KeyboardEvent) => {
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };
    const step = steps[event.key];
    if (step !== undefined && found.length > 0) setAt((at + step + found.length) % found.length);
    else if (event.key === "Enter" && selected) onRun(selected);
    else if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey)) onClose();
    else return;
    event.preventDefault();
  };
  return (
    <>
      <div className={css.search}>
        <Icon name="search" />
        <input
          ref={input}
          type="text"
          role="combobox"
          aria-label="Search for a command"
          aria-expanded="true"
          aria-controls="command-list"
          aria-autocomplete="list"
          aria-activedescendant={selected && optionId(selected)}
          placeholder="What would you like to do?"
          autoComplete="off"
          spellCheck={false}
          value={query}
          onChange={(event) => {
            setQuery(event.target.value);
            setAt(0);
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      {/* A select can't be operated from the text box above it. */}
      {/* oxlint-disable-next-line jsx-a11y/prefer-tag-over-role */}
      <div id="command-list" className={css.list} role="listbox" aria-label="Commands" tabIndex={-1}>
        {found.map((command, index) => (
          <Fragment key={command.id}>
            {query === "" && command.group !== found[index - 1]?.group && (
              <p className={css.group} role="presentation">
                {command.group}
              </p>
            )}
            {/* The combobox handles the keyboard. */}
            {/* oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus */}
            <div
              id={optionId(command)}
              className={css.option}
              // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role
              role="option"
              aria-selected={index === at}
              onClick={() => onRun(command)}
              onPointerMove={() => setAt(index)}
            >
              {command.title}
              {command.keys && <Keys keys={command.keys} />}
            </div>
          </Fragment>
        ))}
      </div>
      {found.length === 0 && <p className={css.none}>No matching command</p>}
      <p className="sr" aria-live="polite">
        {query !== "" && formatCounted(found.length, "command")}
      </p>
    </>
  );
}
