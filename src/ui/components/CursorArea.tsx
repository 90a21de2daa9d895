import { useId, type ComponentProps } from "react";

interface CursorAreaProps extends Omit<ComponentProps<"div">, "role" | "tabIndex"> {
  /** What the cursor moves over. */
  label: string;
  /** Its keys, in a sentence. */
  hint: string;
  value: number;
  max: number;
  /** What is under the cursor. */
  words: string;
}

/**
 * A drawing over which a cursor is moved, by the pointer or by keys. To a screen reader it is a slider whose value is
 * said in words: so the arrow keys come here, and each cell that is reached is spoken.
 */
export function CursorArea({ label, hint, value, max, words, children, ...rest }: CursorAreaProps) {
  const id = useId();
  const slider = {
    role: "slider",
    tabIndex: 0,
    "aria-label": label,
    "aria-describedby": id,
    "aria-valuemin": 0,
    "aria-valuemax": max,
    "aria-valuenow": value,
    "aria-valuetext": words,
  } as const;
  return (
    <div {...rest} {...slider}>
      {children}
      <span id={id} hidden>
        {hint}
      </span>
    </div>
  );
}
