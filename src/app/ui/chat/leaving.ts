/**
 * Returns the handler of a button or form that is about to disappear: the log around it has the focus then. A message box would
 * open a phone's keyboard.
 */
export function leaving<Event extends { readonly currentTarget: Element }>(act: (event: Event) => void) {
  return (event: Event): void => {
    event.currentTarget.closest<HTMLElement>('[role="log"]')?.focus({ preventScroll: true });
    act(event);
  };
}
