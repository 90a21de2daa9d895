import type { ComponentProps } from "react";
import { classNames } from "../class-names.ts";

interface ButtonProps extends ComponentProps<"button"> {
  /** ink: the main action. outlined: the default. quiet: no frame. icon: a square with an icon only. */
  look?: "ink" | "outlined" | "quiet" | "icon";
  /** Before its words. */
  icon?: IconName | undefined;
}

export function Button({ look = "outlined", icon, className, children, ...rest }: ButtonProps) {
  return (
    <button type="button" {...rest} className={classNames("button", look, className)}>
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

interface IconButtonProps extends Omit<ComponentProps<typeof Button>, "look" | "children" | "name"> {
  readonly icon: IconName;
  /** Its accessible name. */
  readonly name: string;
  /** [the name] */
  readonly title?: string | undefined;
}

export function IconButton({ name, title = name, ...rest }: IconButtonProps) {
  return <Button {...rest} look="icon" aria-label={name} title={title} />;
}

/** The paths of each icon: one of lines, and one that is filled, too. */
const PATHS = {
  close: ["M4 4l8 8M12 4l-8 8"],
  plus: ["M8 3v10M3 8h10"],
  up: ["M8 13V3M4 7l4-4 4 4"],
  down: ["M8 3v10M4 9l4 4 4-4"],
  all: ["M2 8h4M6 8c3 0 2-4.5 5-4.5h3M6 8h8M6 8c3 0 2 4.5 5 4.5h3"],
  tick: ["M3.5 8.5l3 3 6-7"],
  warn: ["M8 2.5l6 11H2zM8 7v3M8 12v0"],
  search: ["M2.5 7a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0zM10.5 10.5l3 3"],
  trash: ["M3 4.5h10M6.5 4.5V3h3v1.5M4.5 4.5l.5 8.5h6l.5-8.5M6.75 7v3.5M9.25 7v3.5"],
  help: ["M5.5 6a2.5 2.5 0 1 1 3.75 2.2C8.4 8.7 8 9.2 8 10M8 13v0"],
  folder: ["M2 4.5V12.5h12v-7H8L6.5 3.5H2.9a.9.9 0 0 0-.9.9z"],
  pause: ["M5.5 4v8M10.5 4v8"],
  chevron: ["M4 6l4 4 4-4"],
  chats: ["M2.5 8a5.5 5.5 0 1 0 11 0a5.5 5.5 0 1 0-11 0zM8 4.5V8l2.5 1.5"],
  left: ["M10 4L6 8l4 4"],
  right: ["M6 4l4 4-4 4"],
  minus: ["M3 8h10"],
  copy: ["M6 5.5h7.5v8H6zM10.5 3H2.5v8"],
  edit: ["M3 13l.5-3L10.5 3l2.5 2.5L6 12.5zM9 4.5L11.5 7"],
  compose: ["M13 9v4H3V3h4M6.5 9.5l.5-2.25L12.5 1.75l1.75 1.75-5.5 5.5z"],
  again: ["M13 8a5 5 0 1 1-1.5-3.6M13 2.5V5h-2.5"],
  onward: ["M3 8h10M9 4l4 4-4 4"],
  fork: [
    "M2.5 3.5a1.5 1.5 0 1 0 3 0a1.5 1.5 0 1 0-3 0zM2.5 12.5a1.5 1.5 0 1 0 3 0a1.5 1.5 0 1 0-3 0zM10.5 5.5a1.5 1.5 0 1 0 3 0a1.5 1.5 0 1 0-3 0zM4 5v6M12 7c0 3-8 1.5-8 4",
  ],
  settings: ["M2 5h6M12 5h2M2 11h2M8 11h6M8 5a2 2 0 1 0 4 0a2 2 0 1 0-4 0zM4 11a2 2 0 1 0 4 0a2 2 0 1 0-4 0z"],
  reset: ["M3 8a5 5 0 1 0 1.5-3.6M3 2.5V5h2.5"],
  northeast: ["M5 11l6-6M6 5h5v5"],
  percent: [
    "M12.5 3.5l-9 9M3 4.75a1.75 1.75 0 1 0 3.5 0a1.75 1.75 0 1 0-3.5 0zM9.5 11.25a1.75 1.75 0 1 0 3.5 0a1.75 1.75 0 1 0-3.5 0z",
  ],
  figures: ["M3.5 13V8M8 13V3M12.5 13V6"],
  system: ["M2.5 8a5.5 5.5 0 1 0 11 0a5.5 5.5 0 1 0-11 0z", "M8 2.5a5.5 5.5 0 0 1 0 11z"],
  light: [
    "M5.25 8a2.75 2.75 0 1 0 5.5 0a2.75 2.75 0 1 0-5.5 0zM8 1.75v1.5M8 12.75v1.5M1.75 8h1.5M12.75 8h1.5M3.6 3.6l1 1M11.4 11.4l1 1M12.4 3.6l-1 1M4.6 11.4l-1 1",
  ],
  dark: ["M13.5 9.5A5.75 5.75 0 0 1 6.5 2.5a5.75 5.75 0 1 0 7 7z"],
  stop: ["", "M5 4h6a1 1 0 0 1 1 1v6a1 1 0 0 1-1 1H5a1 1 0 0 1-1-1V5a1 1 0 0 1 1-1z"],
  play: ["", "M5 3.5v9l7-4.5z"],
  stepBack: ["", "M12 3.5v9l-6-4.5zM4 3.5v9"],
  stepOn: ["", "M4 3.5v9l6-4.5zM12 3.5v9"],
  more: [
    "",
    "M2.9 8a.6 .6 0 1 0 1.2 0a.6 .6 0 1 0-1.2 0zM7.4 8a.6 .6 0 1 0 1.2 0a.6 .6 0 1 0-1.2 0zM11.9 8a.6 .6 0 1 0 1.2 0a.6 .6 0 1 0-1.2 0z",
  ],
} satisfies Record<string, readonly [lines: string, filled?: string]>;

export type IconName = keyof typeof PATHS;

const GLYPH =
  "size-4 flex-none fill-none stroke-current [stroke-width:1.5] [stroke-linecap:round] [stroke-linejoin:round]";

/** A 16 px icon in the text's colour. Its meaning is given by a word beside it or the button's name. */
export function Icon({ name, className }: { name: IconName; className?: string | undefined }) {
  const [lines, filled]: readonly [lines: string, filled?: string] = PATHS[name];
  return (
    <svg className={classNames(GLYPH, className)} viewBox="0 0 16 16" aria-hidden="true">
      <path d={lines} />
      {filled && <path d={filled} fill="currentColor" />}
    </svg>
  );
}
