import { useCallback, useMemo, useRef, useState, type ReactNode } from "react";
import type { Command, Commands } from "../../state/commands/commands.ts";
import { Button } from "./Button.tsx";
import { Dialog, DialogHead } from "./Dialog.tsx";
import { useCommands } from "../commands/use-commands.ts";

interface SheetProps {
  /** The dialog's accessible name. */
  name: string;
  /** Content of the button that opens it. */
  button: ReactNode;
  /** Accessible name of the button, if it shows only an icon. */
  buttonName?: string;
  look?: "icon" | "outlined" | "quiet";
  className?: string | undefined;
  /** The command that opens it too. Must be stable: a constant, or made by useMemo. */
  command: Omit<Command, "run">;
  commands: Commands;
  /** Mounted each time the sheet opens. */
  children: ReactNode;
}

/** A button and the small dialog that opens below it. */
export function Sheet({ name, button, buttonName, look = "icon", className, command, commands, children }: SheetProps) {
  const opener = useRef<HTMLButtonElement>(null);
  const dialog = useRef<HTMLDialogElement>(null);
  const [isOpen, setOpen] = useState(false);
  const close = () => dialog.current?.close();

  const open = useCallback(() => {
    if (!opener.current) return;
    const { bottom, right } = opener.current.getBoundingClientRect();
    // Below its button, and within the window.
    dialog.current?.style.setProperty("--top", `${Math.min(bottom + 4, innerHeight / 3)}px`);
    dialog.current?.style.setProperty("--right", `${Math.max(8, innerWidth - Math.max(right, 440))}px`);
    setOpen(true);
    dialog.current?.showModal();
  }, []);
  useCommands(
    commands,
    useMemo(() => [{ ...command, run: open }], [command, open]),
  );
  return (
    <>
      <Button
        ref={opener}
        look={look}
        className={className}
        aria-haspopup="dialog"
        aria-label={buttonName ?? name}
        title={buttonName ?? name}
        onClick={open}
      >
        {button}
      </Button>
      <Dialog ref={dialog} name={name} className="sheet" onClosed={() => setOpen(false)}>
        {isOpen && (
          <>
            <DialogHead title={name} onClose={close} />
            <div className="dialog-body">{children}</div>
          </>
        )}
      </Dialog>
    </>
  );
}
