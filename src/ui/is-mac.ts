/** Whether this keyboard says ⌘ where others say Ctrl. */
export const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);
