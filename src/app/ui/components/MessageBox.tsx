import { useLayoutEffect, type KeyboardEvent, type RefObject } from "react";
import { classNames } from "../class-names.ts";
import { directionOf } from "./text-direction.ts";

interface MessageBoxProps {
  value: string;
  onChange: (value: string) => void;
  onEnter: () => void;
  /** ["Message"] */
  label?: string;
  /** [the label] */
  placeholder?: string;
  /** Id of the element that describes it. */
  describedBy?: string;
  className?: string | undefined;
  box: RefObject<HTMLTextAreaElement | null>;
}

const GROWS_BY_ITSELF = CSS.supports("field-sizing", "content");

/** A text box that grows to six lines. Enter sends, Shift+Enter starts a new line. */
export function MessageBox({
  value,
  onChange,
  onEnter,
  label = "Message",
  placeholder = label,
  describedBy,
  className,
  box,
}: MessageBoxProps) {
  useLayoutEffect(() => {
    if (GROWS_BY_ITSELF || box.current === null) return;
    box.current.style.setProperty("height", "auto");
    box.current.style.setProperty("height", `${box.current.scrollHeight}px`);
  }, [value, box]);

  const onKeyDown = (event: KeyboardEvent) => {
    // While an input method is composing, Enter accepts its suggestion.
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    onEnter();
  };
  return (
    <textarea
      ref={box}
      className={classNames(
        "block min-h-8 w-full rounded-lg px-2 py-1.5 t-14 max-sm:min-h-10 max-sm:py-2.5 max-sm:text-(length:--field-font)",
        className,
      )}
      rows={1}
      dir={directionOf(value)}
      aria-label={label}
      aria-describedby={describedBy}
      placeholder={placeholder}
      value={value}
      onChange={(event) => onChange(event.target.value)}
      onKeyDown={onKeyDown}
    />
  );
}
