import { useEffect, useRef, type KeyboardEvent } from "react";
import { Button } from "../components/Button.tsx";
import css from "./ConfirmDelete.module.css";

interface ConfirmDeleteProps {
  question: string;
  onDelete: () => void;
  onKeep: () => void;
}

/** Asks before chats are deleted for good. Escape keeps them. */
export function ConfirmDelete({ question, onDelete, onKeep }: ConfirmDeleteProps) {
  const keep = useRef<HTMLButtonElement>(null);
  // The pressed button is gone. The choice that loses nothing gets the focus.
  useEffect(() => {
    keep.current?.focus();
  }, []);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape") return;
    event.preventDefault(); // else the list would close too
    onKeep();
  };
  return (
    // Its buttons have the focus.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <fieldset className={css.confirm} aria-label={question} onKeyDown={onKeyDown}>
      <p>{question}</p>
      <Button look="ink" onClick={onDelete}>
        Delete
      </Button>
      <Button ref={keep} onClick={onKeep}>
        Keep
      </Button>
    </fieldset>
  );
}
