import type { ReactNode } from "react";
import { HelpButton } from "../actions/ActionButton.tsx";
import { Logo } from "../components/Logo.tsx";
import { ThemeButton } from "./ThemeButton.tsx";

/** The head of a page beside the chats: the way back to them, the page's title and its buttons. */
export function PageHead({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <header className="row h-(--bar-h) gap-3 px-4 max-sm:gap-2 max-sm:px-3 max-[400px]:gap-1">
      <a className="brand" href="#/" aria-label="Chorus: back to the chats">
        <Logo />
        <span className="max-sm:hidden">Chorus</span>
      </a>
      <h1 className="border-l border-line-strong pl-3 max-sm:sr-only">{title}</h1>
      <div className="min-h-0 min-w-0 flex-1" />
      {children}
      <a className="button max-[400px]:px-2 max-[400px]:py-0" href="#/">
        Back to chats
      </a>
      <HelpButton />
      <ThemeButton />
    </header>
  );
}
