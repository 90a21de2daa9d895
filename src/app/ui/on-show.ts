// Refs that do something with an element when it comes into the page.

/** What had the focus is gone, or the keys are for this. */
export function focusOnShow(element: HTMLElement | null): void {
  element?.focus();
}

/** What is in the box can be replaced at once. */
export function selectOnShow(box: HTMLInputElement | null): void {
  box?.select();
}
