/** The drawings of the timeline's cells, 9 by 16, for legends. */
export const GLYPHS = {
  Prompt: <rect y="1" width="8" height="14" rx="1.5" fill="currentColor" />,
  Cached: (
    <g fill="none" stroke="currentColor">
      <rect x=".5" y="1.5" width="7" height="13" rx="1.5" />
      <path d="M1 8l6-6M1 14l6-6" />
    </g>
  ),
  Decode: <rect x="1" y="5" width="6" height="6" rx="1.5" fill="currentColor" />,
  Drafted: (
    <g fill="currentColor">
      <rect x="1" y="10.5" width="6" height="4" rx="1" />
      <rect x="1" y="5.5" width="6" height="4" rx="1" />
      <path d="M1 2.5h6" stroke="currentColor" />
    </g>
  ),
  Waiting: <path d="M2 8h4" stroke="currentColor" strokeWidth="2" />,
  Preempted: <path className="stroke-bad" d="M1 5l6 6M7 5l-6 6" strokeWidth="1.75" />,
  Finished: (
    <g stroke="currentColor">
      <path d="M1.5 2v12" />
      <path d="M5.5 2v12" strokeWidth="3" />
    </g>
  ),
};

export function TimelineLegend() {
  return (
    <ul className="ml-auto flex gap-3 overflow-hidden max-sm:ml-0 max-sm:basis-full max-sm:flex-wrap max-sm:gap-x-3 max-sm:gap-y-0.5 sm:max-[1400px]:-mt-0.5 sm:max-[1400px]:flex-wrap sm:max-[1400px]:justify-end sm:max-[1400px]:gap-x-2 sm:max-[1400px]:gap-y-0 sm:max-[1400px]:self-start sm:max-[1400px]:overflow-visible">
      {Object.entries(GLYPHS).map(([name, drawing]) => (
        <li key={name} className="row gap-1.25">
          <svg className="h-4 w-2.25 flex-none overflow-visible text-ink-2" aria-hidden="true" viewBox="0 0 9 16">
            {drawing}
          </svg>
          {name}
        </li>
      ))}
    </ul>
  );
}
