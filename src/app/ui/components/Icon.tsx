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
  trash: <path d="M3 4.5h10M6.5 4.5V3h3v1.5M4.5 4.5l.5 8.5h6l.5-8.5M6.75 7v3.5M9.25 7v3.5" />,
  help: <path d="M5.5 6a2.5 2.5 0 1 1 3.75 2.2C8.4 8.7 8 9.2 8 10M8 13v0" />,
  folder: <path d="M2 4.5V12.5h12v-7H8L6.5 3.5H2.9a.9.9 0 0 0-.9.9z" />,
  pause: <path d="M5.5 4v8M10.5 4v8" />,
  chevron: <path d="M4 6l4 4 4-4" />,
  chats: (
    <>
      <circle cx="8" cy="8" r="5.5" />
      <path d="M8 4.5V8l2.5 1.5" />
    </>
  ),
  left: <path d="M10 4L6 8l4 4" />,
  right: <path d="M6 4l4 4-4 4" />,
  minus: <path d="M3 8h10" />,
  play: <path d="M5 3.5v9l7-4.5z" fill="currentColor" />,
  stepBack: <path d="M12 3.5v9l-6-4.5zM4 3.5v9" fill="currentColor" />,
  stepOn: <path d="M4 3.5v9l6-4.5zM12 3.5v9" fill="currentColor" />,
  copy: <path d="M6 5.5h7.5v8H6zM10.5 3H2.5v8" />,
  edit: <path d="M3 13l.5-3L10.5 3l2.5 2.5L6 12.5zM9 4.5L11.5 7" />,
  compose: <path d="M13 9v4H3V3h4M6.5 9.5l.5-2.25L12.5 1.75l1.75 1.75-5.5 5.5z" />,
  again: <path d="M13 8a5 5 0 1 1-1.5-3.6M13 2.5V5h-2.5" />,
  onward: <path d="M3 8h10M9 4l4 4-4 4" />,
  fork: (
    <>
      <circle cx="4" cy="3.5" r="1.5" />
      <circle cx="4" cy="12.5" r="1.5" />
      <circle cx="12" cy="5.5" r="1.5" />
      <path d="M4 5v6M12 7c0 3-8 1.5-8 4" />
    </>
  ),
  settings: (
    <>
      <path d="M2 5h6M12 5h2M2 11h2M8 11h6" />
      <circle cx="10" cy="5" r="2" />
      <circle cx="6" cy="11" r="2" />
    </>
  ),
  more: (
    <>
      <circle cx="3.5" cy="8" r="0.6" fill="currentColor" />
      <circle cx="8" cy="8" r="0.6" fill="currentColor" />
      <circle cx="12.5" cy="8" r="0.6" fill="currentColor" />
    </>
  ),
  reset: <path d="M3 8a5 5 0 1 0 1.5-3.6M3 2.5V5h2.5" />,
  northeast: <path d="M5 11l6-6M6 5h5v5" />,
  percent: (
    <>
      <path d="M12.5 3.5l-9 9" />
      <circle cx="4.75" cy="4.75" r="1.75" />
      <circle cx="11.25" cy="11.25" r="1.75" />
    </>
  ),
  figures: <path d="M3.5 13V8M8 13V3M12.5 13V6" />,
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

export type IconName = keyof typeof SHAPES;

/** A 16 px icon in the text's colour. Its meaning is given by a word beside it or the button's name. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="glyph" viewBox="0 0 16 16" aria-hidden="true">
      {SHAPES[name]}
    </svg>
  );
}
