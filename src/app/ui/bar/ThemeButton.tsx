import { useStore } from "zustand";
import { usePage } from "../app/page-context.ts";
import { IconButton } from "../components/Button.tsx";

export function ThemeButton({ className }: { className?: string | undefined }) {
  const { theme } = usePage();
  const choice = useStore(theme.store);
  const name = `Theme: ${choice}`;
  return <IconButton icon={choice} className={className} name={name} onClick={theme.next} />;
}
