import type { Theme } from "../../state/app/theme.ts";
import { IconButton } from "../components/IconButton.tsx";
import { useStore } from "../use-store.ts";

export function ThemeButton({ theme, className }: { theme: Theme; className?: string | undefined }) {
  const choice = useStore(theme.store);
  const name = `Theme: ${choice}`;
  return <IconButton icon={choice} className={className} name={name} onClick={() => theme.next()} />;
}
