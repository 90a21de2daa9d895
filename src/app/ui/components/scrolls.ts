/** What the arrow keys scroll can have the focus. */
export const SCROLLS = { tabIndex: 0 } as const;

/** As above, with no role of its own. */
export const SCROLLED_GROUP = { ...SCROLLS, role: "group" } as const;
