import type { ReactNode } from "react";
import { ActionButton } from "../actions/ActionButton.tsx";
import { classNames } from "../class-names.ts";
import { Logo } from "../components/Logo.tsx";
import css from "./PageHead.module.css";
import { ThemeButton } from "./ThemeButton.tsx";

interface PageHeadProps {
  readonly title: string;
  /** The page's own buttons. */
  readonly children?: ReactNode;
}

/** The head of a page beside the chats: the way back to them, the page's title and its buttons. */
export function PageHead({ title, children }: PageHeadProps) {
  return (
    <header className={css.head}>
      <a className="brand" href="#/" aria-label="Chorus: back to the chats">
        <Logo />
        <span>Chorus</span>
      </a>
      <h1 className={css.title}>{title}</h1>
      <div className="grow" />
      {children}
      <a className={classNames("button", css.back)} href="#/">
        Back to chats
      </a>
      <ActionButton
        action="help.open"
        icon="help"
        name="Help"
        title="About Chorus, keys, documents"
        aria-haspopup="dialog"
      />
      <ThemeButton />
    </header>
  );
}
