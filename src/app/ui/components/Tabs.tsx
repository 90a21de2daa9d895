import { useEffect, useRef, type KeyboardEvent, type ReactNode } from "react";

interface TabsProps {
  /** Accessible names of all of it, and of the tabs alone. */
  readonly name: string;
  readonly listName: string;
  readonly tabs: ReactNode;
  readonly children?: ReactNode;
}

/** On a phone one of several parts is seen, and these tabs say which. The arrow keys go to the neighbours. */
export function Tabs({ name, listName, tabs, children }: TabsProps) {
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault(); // else the arrow would scroll the tabs too
    const all = [...event.currentTarget.querySelectorAll<HTMLElement>("[role=tab]")];
    const chosen = all.findIndex((tab) => tab.getAttribute("aria-selected") === "true");
    const next = all.at((chosen + step) % all.length);
    next?.click();
    next?.focus();
  };
  return (
    <nav className="flex items-center gap-1 px-3 pb-2 sm:hidden" aria-label={name}>
      <div
        className="-m-0.5 flex flex-1 [scrollbar-width:none] gap-1 overflow-x-auto p-0.5"
        role="tablist"
        aria-label={listName}
        onKeyDown={onKeyDown}
        tabIndex={-1}
      >
        {tabs}
      </div>
      {children}
    </nav>
  );
}

interface TabProps {
  /** Its accessible name. [its content] */
  readonly name?: string;
  readonly isChosen: boolean;
  readonly onChoose: () => void;
  readonly children: ReactNode;
}

export function Tab({ name, isChosen, onChoose, children }: TabProps) {
  const tab = useRef<HTMLButtonElement>(null);
  // Sixteen tabs are wider than a phone.
  useEffect(() => {
    if (isChosen) tab.current?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [isChosen]);
  return (
    <button
      ref={tab}
      type="button"
      role="tab"
      className="flex h-10 flex-none items-center gap-1.5 rounded-lg border border-transparent bg-transparent px-2.25 py-0 aria-selected:border-line-strong aria-selected:bg-surface"
      aria-selected={isChosen}
      aria-label={name}
      tabIndex={isChosen ? 0 : -1}
      onClick={onChoose}
    >
      {children}
    </button>
  );
}
