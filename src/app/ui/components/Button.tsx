import type { ComponentProps } from "react";
import { classNames } from "../class-names.ts";

interface ButtonProps extends ComponentProps<"button"> {
  /** ink: the main action. outlined: the default. quiet: no frame. icon: a square with an icon only. */
  look?: "ink" | "outlined" | "quiet" | "icon";
}

export function Button({ look = "outlined", className, ...rest }: ButtonProps) {
  return <button type="button" {...rest} className={classNames("button", look, className)} />;
}
