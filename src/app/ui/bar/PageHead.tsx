import type { ReactNode } from "react";
import type { Theme } from "../../state/app/theme.ts";
import { Logo } from "../components/Logo.tsx";
import logo from "../components/Logo.module.css";
import css from "./PageHead.module.css";
import { ThemeButton } from "./ThemeButton.tsx";

interface PageHeadProps {
  readonly title: string;
  readonly theme: Theme;
  /** The page's own buttons. */
  readonly children?: ReactNode;
}

/** The head of a page beside the chats: the way back to them, the page's title and its buttons. */
export function PageHead({ title, theme, children }: PageHeadProps) {
  return (
    <header className={css.head}>
      <a className={logo.brand} href="#/" aria-label="Chorus: back to the chats">
        <Logo />
        <span>Chorus</span>
      </a>
      <h1 className={css.title}>{title}</h1>
      <div className={css.spring} />
      {children}
      <a className={css.back} href="#/">
        Back to chats
      </a>
      <ThemeButton theme={theme} />
    </header>
  );
}
