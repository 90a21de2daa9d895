/** Returns what was typed into a form, without spaces around it, by the names of its boxes. */
export function textsOf(form: HTMLFormElement): Readonly<Record<string, string>> {
  const typed = [...new FormData(form)];
  return Object.fromEntries(typed.map(([name, value]) => [name, typeof value === "string" ? value.trim() : ""]));
}
