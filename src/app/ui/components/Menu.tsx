import { useId, useRef, useState, type KeyboardEvent } from "react";
import { flushSync } from "react-dom";
import { Button } from "./Button.tsx";
import { Icon } from "./Icon.tsx";

export interface MenuItem {
  readonly label: string;
  readonly isDisabled?: boolean;
  readonly run: () => void;
}

interface MenuProps {
  name: string;
  /** Called at each opening. */
  items: () => readonly MenuItem[];
  /** quiet: the button shows its name; else three dots. */
  look?: "icon" | "quiet";
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
export function Menu({ name, items: getItems, look = "icon" }: MenuProps) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);

  const [items, setItems] = useState<readonly MenuItem[]>([]);
  const first = items.find(({ isDisabled }) => !isDisabled);
  const enabled = () => [...(list.current?.querySelectorAll<HTMLElement>("button:enabled") ?? [])];
  /** Rendered before the browser opens it, which focuses an item at once. */
  const prepare = () => {
    flushSync(() => setItems(getItems()));
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
        aria-label={name}
        aria-haspopup="menu"
        title={name}
        popoverTarget={id}
        onClick={prepare}
      >
        {look === "icon" ? <Icon name="more" /> : name}
      </Button>
      {/* oxlint-disable-next-line jsx-a11y/interactive-supports-focus */}
      <div
        ref={list}
        id={id}
        popover="auto"
        role="menu"
        aria-label={name}
        className="float menu"
        onKeyDown={onKeyDown}
        onToggle={({ newState }) => newState === "closed" && setItems([])}
      >
        {items.map(({ label, isDisabled, run }) => (
          <button
            key={label}
            {...(label === first?.label && { ref: focusOnOpening })}
            type="button"
            className="bare"
            role="menuitem"
            disabled={isDisabled}
            onClick={() => {
              list.current?.hidePopover();
              run();
            }}
          >
            {label}
          </button>
        ))}
      </div>
    </>
  );
}
