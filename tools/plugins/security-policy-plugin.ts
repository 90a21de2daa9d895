// Writes a Content-Security-Policy into the built pages. As a <meta>, so that every static host has it. It governs the
// page; the workers run only files of the build, and no server's header is needed for them.

import type { Plugin } from "vite";

const POLICY = {
  "default-src": ["'none'"],
  // WebAssembly only: no inline scripts, no eval.
  "script-src": ["'self'", "'wasm-unsafe-eval'"],
  "worker-src": ["'self'"],
  "style-src": ["'self'"],
  "img-src": ["'self'", "data:", "blob:"],
  "font-src": ["'self'"],
  "manifest-src": ["'self'"],
  // Models come from whichever server the user names.
  "connect-src": ["'self'", "blob:", "data:", "https:", "http:"],
  "base-uri": ["'none'"],
  "form-action": ["'none'"],
} as const;

/** The policy as a header's or a <meta>'s value. */
export const CONTENT_SECURITY_POLICY = Object.entries(POLICY)
  .map(([directive, sources]) => `${directive} ${sources.join(" ")}`)
  .join("; ");

export function securityPolicy(): Plugin {
  return {
    name: "security-policy",
    apply: "build",
    transformIndexHtml: {
      order: "post",
      handler: () => [
        {
          tag: "meta",
          attrs: { "http-equiv": "Content-Security-Policy", content: CONTENT_SECURITY_POLICY },
          injectTo: "head-prepend",
        },
      ],
    },
  };
}
