import { useId, type ComponentProps } from "react";

interface CursorAreaProps extends Omit<ComponentProps<"div">, "role" | "tabIndex"> {
  /** Accessible name of the area. */
  label: string;
  /** A sentence about its keys. */
  hint: string;
  value: number;
  max: number;
  /** Description of the place under the cursor. */
  words: string;
}

/** A drawing with a cursor; for screen readers a slider whose value is text: keys reach it, and each cell is spoken. */
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
    <div {...rest} {...slider} data-cursor-area="">
      {children}
      <span id={id} hidden>
        {hint}
      </span>
    </div>
  );
}
