/** Focuses the log around a button that is about to disappear. A message box would open a phone's keyboard. */
export function focusLog(button: Element): void {
  button.closest<HTMLElement>('[role="log"]')?.focus({ preventScroll: true });
}
