import { Fragment, useId, useRef, useState, type KeyboardEvent, type ReactNode } from "react";
import { flushSync } from "react-dom";
import { Button, Icon } from "./Button.tsx";

export interface MenuItem {
  readonly label: string;
  /** Stands above it. Its name should say it, too. */
  readonly heading?: string;
  /** Its accessible name. [the label] */
  readonly name?: string;
  /** Whether it is the chosen one. [it is no choice] */
  readonly isChecked?: boolean;
  readonly isDisabled?: boolean;
  readonly run: () => void;
}

interface MenuProps {
  name: string;
  /** Called while it is open. */
  items: () => readonly MenuItem[];
  /** quiet: the button shows its name, or its children; else three dots. */
  look?: "icon" | "quiet";
  className?: string | undefined;
  onOpen?: () => void;
  children?: ReactNode;
}

/**
 * The browser focuses it when it opens the popover or the dialog, at once: by an event, an arrow key pressed right after opening
 * would come first. React's own autoFocus makes no attribute of it.
 */
export function focusOnOpening(item: HTMLElement | null) {
  item?.setAttribute("autofocus", "");
  return () => item?.removeAttribute("autofocus");
}

/** A button and the list it opens: a native popover, with the arrow keys of a menu. */
export function Menu({ name, items: getItems, look = "icon", className, onOpen, children = name }: MenuProps) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);

  const [isOpen, setOpen] = useState(false);
  const items = isOpen ? getItems() : [];
  const first = items.find(({ isDisabled }) => !isDisabled);
  const enabled = () => [...(list.current?.querySelectorAll<HTMLElement>("button:enabled") ?? [])];
  /** Rendered before the browser opens it, which focuses an item at once. */
  const prepare = () => {
    flushSync(() => setOpen(true));
    onOpen?.();
    if (!button.current || !list.current) return;
    const { top, bottom, right } = button.current.getBoundingClientRect();
    // In the lower half of the window the list opens upwards.
    const isLow = top > innerHeight / 2;
    list.current.style.setProperty("--top", isLow ? "auto" : `${bottom + 4}px`);
    list.current.style.setProperty("--bottom", isLow ? `${innerHeight - top + 4}px` : "auto");
    list.current.style.setProperty("--right", `${Math.max(8, innerWidth - right)}px`);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape") event.stopPropagation(); // else it would stop the pane's answer too
    if (event.key === "Tab") list.current?.hidePopover(); // and the browser moves the focus on from its button
    const buttons = enabled();
    const at = buttons.indexOf(document.activeElement as HTMLElement);
    const next = { ArrowDown: (at + 1) % buttons.length, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    buttons.at(next)?.focus();
  };
  return (
    <>
      <Button
        ref={button}
        look={look}
        className={className}
        aria-label={name}
        aria-haspopup="menu"
        title={name}
        popoverTarget={id}
        onClick={prepare}
      >
        {look === "icon" ? <Icon name="more" /> : children}
      </Button>
      {/* oxlint-disable-next-line jsx-a11y/interactive-supports-focus */}
      <div
        ref={list}
        id={id}
        popover="auto"
        role="menu"
        aria-label={name}
        className="float fixed [inset:var(--top,0)_var(--right,8px)_var(--bottom,auto)_auto] h-fit max-h-[50dvh] min-w-45 overflow-auto border-line p-1"
        onKeyDown={onKeyDown}
        onToggle={({ newState }) => newState === "closed" && setOpen(false)}
      >
        {items.map(({ label, heading, name: itemName = label, isChecked, isDisabled, run }) => (
          <Fragment key={itemName}>
            {heading && (
              <span className="small block px-2.5 pt-2 pb-1" aria-hidden="true">
                {heading}
              </span>
            )}
            <button
              {...(label === first?.label && { ref: focusOnOpening })}
              type="button"
              className="bare block w-full rounded-md px-2.5 py-1.5 hover:bg-surface-2 focus-visible:bg-surface-2 focus-visible:-outline-offset-2 disabled:cursor-default disabled:bg-transparent disabled:text-ink-3 max-sm:py-2.5"
              role={isChecked === undefined ? "menuitem" : "menuitemradio"}
              aria-checked={isChecked}
              aria-label={itemName}
              disabled={isDisabled}
              onClick={() => {
                list.current?.hidePopover();
                run();
              }}
            >
              {label}
              {isChecked && <Icon name="tick" className="ml-2" />}
            </button>
          </Fragment>
        ))}
      </div>
    </>
  );
}
