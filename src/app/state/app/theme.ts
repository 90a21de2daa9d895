import { keptChoice, type KeptChoice } from "../remembered.ts";

const CHOICES = ["system", "light", "dark"] as const;
export type ThemeChoice = (typeof CHOICES)[number];

/** Returns the choice of the theme: the system's, light or dark. The document's root follows it. */
export function openTheme(): KeptChoice<ThemeChoice> {
  const theme = keptChoice("theme", CHOICES);
  const systemIsDark = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => {
    const choice = theme.store.getState();
    const isDark = choice === "dark" || (choice === "system" && systemIsDark.matches);
    document.documentElement.dataset["theme"] = isDark ? "dark" : "light";
  };
  systemIsDark.addEventListener("change", apply);
  theme.store.subscribe(apply);
  apply();
  return theme;
}
