// The visible text of an element, as one row of characters across its child elements.

/** Returns each text node with the index of its first character. */
function textNodes(root: Element): { node: Text; start: number }[] {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const nodes = [];
  let start = 0;
  while (walker.nextNode()) {
    const node = walker.currentNode as Text;
    nodes.push({ node, start });
    start += node.length;
  }
  return nodes;
}

/** Returns the range from one character to before another; null if they don't exist. */
export function rangeOf(root: Element, from: number, to: number): Range | null {
  const nodes = textNodes(root);
  const place = (at: number) => nodes.findLast(({ start, node }) => start <= at && at <= start + node.length);
  const [first, last] = [nodes.find(({ start, node }) => from < start + node.length), place(to)];
  if (!first || !last) return null;
  const range = document.createRange();
  range.setStart(first.node, Math.max(0, from - first.start));
  range.setEnd(last.node, to - last.start);
  return range;
}

/** Returns the index of the character at a point of the window; null if there is none. */
export function characterAt(root: Element, x: number, y: number): number | null {
  const caret = caretAt(x, y);
  const found = caret && textNodes(root).find(({ node }) => node === caret.node);
  if (!found) return null;
  // A caret is between two characters; the point is on one of them.
  for (const at of [found.start + caret.offset - 1, found.start + caret.offset]) {
    const rect = at < 0 ? null : rangeOf(root, at, at + 1)?.getBoundingClientRect();
    if (rect && rect.left <= x && x <= rect.right && rect.top <= y && y <= rect.bottom) return at;
  }
  return null;
}

function caretAt(x: number, y: number): { node: Node; offset: number } | null {
  // Older browsers have only the second.
  if ("caretPositionFromPoint" in document) {
    const position = document.caretPositionFromPoint(x, y);
    return position && { node: position.offsetNode, offset: position.offset };
  }
  const range = (document as Document).caretRangeFromPoint(x, y);
  return range && { node: range.startContainer, offset: range.startOffset };
}
