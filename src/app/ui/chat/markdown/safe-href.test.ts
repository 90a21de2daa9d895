import { expect, it } from "vitest";
import { safeHref } from "./safe-href.ts";

it.each(["https://example.org/a?b#c", "http://example.org", "mailto:a@example.org", "HTTPS://EXAMPLE.ORG"])(
  "%s can be followed",
  (href) => {
    expect(safeHref(href)).toBe(href);
  },
);

it.each([
  "javascript:alert(1)",
  "JaVaScRiPt:alert(1)",
  " javascript:alert(1)",
  "java\nscript:alert(1)",
  "data:text/html,x",
  "file:///etc/passwd",
  "blob:https://example.org/1",
  "/here",
  "#top",
  "",
])("%j can't", (href) => {
  expect(safeHref(href)).toBeNull();
});
