import { Fragment, useEffect, useState, type KeyboardEvent } from "react";
import { findCommands, type Command } from "../../state/commands/commands.ts";
import { Icon } from "../components/Button.tsx";
import { useClose } from "../components/Dialog.tsx";
import { Keys } from "./Keys.tsx";
import { formatCounted } from "../format.ts";

const optionId = (command: Command) => `command-${command.id}`;

/** The command palette: a combobox over the list of commands. */
export function Palette({ commands }: { commands: readonly Command[] }) {
  const close = useClose();
  const [query, setQuery] = useState("");
  const [at, setAt] = useState(0);
  const found = findCommands(commands, query);
  const selected = found[at];

  useEffect(() => {
    if (selected) document.getElementById(optionId(selected))?.scrollIntoView({ block: "nearest" });
  }, [selected]);

  const run = (command: Command) => {
    // Closing first returns the focus, so that the command finds the page as it was.
    close();
    command.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };
    const step = steps[event.key];
    if (step !== undefined && found.length > 0) setAt((at + step + found.length) % found.length);
    else if (event.key === "Enter" && selected) run(selected);
    else if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey)) close();
    else return;
    event.preventDefault();
  };
  return (
    <>
      <div className="row border-b border-line px-4 text-ink-3">
        <Icon name="search" />
        <input
          className="h-12 flex-1 border-0 bg-transparent p-0 text-[16px] text-ink outline-none"
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
      <div id="command-list" className="min-h-0 overflow-y-auto p-2" role="listbox" aria-label="Commands" tabIndex={-1}>
        {found.map((command, index) => (
          <Fragment key={command.id}>
            {query === "" && command.group !== found[index - 1]?.group && (
              <p className="small px-2 pt-2 pb-1" role="presentation">
                {command.group}
              </p>
            )}
            {/* The combobox handles the keyboard. */}
            {/* oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus */}
            <div
              id={optionId(command)}
              className="row min-h-9 cursor-pointer justify-between gap-3 rounded-md px-2 aria-selected:bg-surface-2 aria-selected:[box-shadow:inset_2px_0_0_var(--color-ink)] max-sm:min-h-11"
              // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role
              role="option"
              aria-selected={index === at}
              onClick={() => run(command)}
              onPointerMove={() => setAt(index)}
            >
              {command.title}
              {command.keys && <Keys keys={command.keys} />}
            </div>
          </Fragment>
        ))}
      </div>
      {found.length === 0 && <p className="px-2 py-4 text-ink-3">No matching command</p>}
      <p className="sr-only" aria-live="polite">
        {query !== "" && formatCounted(found.length, "command")}
      </p>
    </>
  );
}
