import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it } from "vitest";

import { root } from "./run-command.mjs";
import { CONTENT_SECURITY_POLICY } from "./plugins/security-policy-plugin.ts";

const folder = join(root, "docs/hosting");

// A header governs workers, too, and can say who may show the page in a frame; a <meta> can't.
it.each(readdirSync(folder))("docs/hosting/%s has the policy of the built page, as a header", (name) => {
  expect(readFileSync(join(folder, name), "utf8")).toContain(`${CONTENT_SECURITY_POLICY}; frame-ancestors 'self'`);
});
