import css from "./Icon.module.css";

const SHAPES = {
  close: <path d="M4 4l8 8M12 4l-8 8" />,
  plus: <path d="M8 3v10M3 8h10" />,
  up: <path d="M8 13V3M4 7l4-4 4 4" />,
  down: <path d="M8 3v10M4 9l4 4 4-4" />,
  stop: <rect x="4" y="4" width="8" height="8" rx="1" fill="currentColor" />,
  all: <path d="M2 8h4M6 8c3 0 2-4.5 5-4.5h3M6 8h8M6 8c3 0 2 4.5 5 4.5h3" />,
  tick: <path d="M3.5 8.5l3 3 6-7" />,
  warn: <path d="M8 2.5l6 11H2zM8 7v3M8 12v0" />,
  search: (
    <>
      <circle cx="7" cy="7" r="4.5" />
      <path d="M10.5 10.5l3 3" />
    </>
  ),
  play: <path d="M5 3.5v9l7-4.5z" fill="currentColor" />,
  northeast: <path d="M5 11l6-6M6 5h5v5" />,
  system: (
    <>
      <circle cx="8" cy="8" r="5.5" />
      <path d="M8 2.5a5.5 5.5 0 0 1 0 11z" fill="currentColor" />
    </>
  ),
  light: (
    <>
      <circle cx="8" cy="8" r="2.75" />
      <path d="M8 1.75v1.5M8 12.75v1.5M1.75 8h1.5M12.75 8h1.5M3.6 3.6l1 1M11.4 11.4l1 1M12.4 3.6l-1 1M4.6 11.4l-1 1" />
    </>
  ),
  dark: <path d="M13.5 9.5A5.75 5.75 0 0 1 6.5 2.5a5.75 5.75 0 1 0 7 7z" />,
};

/** A 16 px drawing in the colour of the text; what it means is said by a word beside it or the button's name. */
export function Icon({ name }: { name: keyof typeof SHAPES }) {
  return (
    <svg className={css.icon} viewBox="0 0 16 16" aria-hidden="true">
      {SHAPES[name]}
    </svg>
  );
}
