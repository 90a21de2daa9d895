import { useEffect, useRef } from "react";
import { Button } from "../components/Button.tsx";
import css from "./ConfirmDelete.module.css";

interface ConfirmDeleteProps {
  question: string;
  onDelete: () => void;
  onKeep: () => void;
}

/** Asks before chats are deleted for good. */
export function ConfirmDelete({ question, onDelete, onKeep }: ConfirmDeleteProps) {
  const keep = useRef<HTMLButtonElement>(null);
  // The pressed button is gone. The choice that loses nothing gets the focus.
  useEffect(() => keep.current?.focus(), []);
  return (
    <fieldset className={css.confirm} aria-label={question}>
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
