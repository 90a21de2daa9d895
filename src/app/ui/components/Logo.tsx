/** The logo: four voices, entering one after the other. */
export function Logo({ className }: { className?: string }) {
  return (
    <svg className={className} width="22" height="20" viewBox="0 0 22 20" aria-hidden="true">
      <rect x="0" y="1" width="14" height="3.5" rx="1" fill="var(--v1)" />
      <rect x="5" y="5.8" width="17" height="3.5" rx="1" fill="var(--v2)" />
      <rect x="2" y="10.6" width="11" height="3.5" rx="1" fill="var(--v3)" />
      <rect x="8" y="15.4" width="12" height="3.5" rx="1" fill="var(--v4)" />
    </svg>
  );
}
