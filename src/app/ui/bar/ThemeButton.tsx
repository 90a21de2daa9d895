import type { Theme } from "../../state/app/theme.ts";
import { Button } from "../components/Button.tsx";
import { Icon } from "../components/Icon.tsx";
import { useStore } from "../use-store.ts";

export function ThemeButton({ theme, className }: { theme: Theme; className?: string | undefined }) {
  const choice = useStore(theme.store, (state) => state);
  const name = `Theme: ${choice}`;
  return (
    <Button look="icon" className={className} aria-label={name} title={name} onClick={() => theme.next()}>
      <Icon name={choice} />
    </Button>
  );
}
