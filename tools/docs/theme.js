// The theme that was chosen in the app, else the system's. Loaded before anything is drawn.
{
  let choice = null;
  try {
    choice = localStorage.getItem("chorus.theme");
  } catch {
    // Site data may be blocked.
  }
  const system = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => {
    const isDark = choice === "dark" || (choice !== "light" && system.matches);
    document.documentElement.dataset.theme = isDark ? "dark" : "light";
    // A picture has a dark form, which by itself follows the system alone.
    for (const source of document.getElementsByTagName("source")) source.media = isDark ? "all" : "not all";
  };
  apply();
  system.addEventListener("change", apply);
  document.addEventListener("DOMContentLoaded", apply);
}
