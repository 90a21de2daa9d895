import { readFileSync } from "node:fs";
import type { Plugin } from "vite";

/**
 * In a build, kernels lose their comments, 6 kB of what a first visit fetches. Line breaks stay: a compiler's
 * message still names the line of the kernel's file.
 */
export function wgslWithoutComments(): Plugin {
  return {
    name: "wgsl-without-comments",
    enforce: "pre",
    apply: "build",
    load(id) {
      const [path = "", query] = id.split("?");
      if (!path.endsWith(".wgsl") || query !== "raw") return null;
      return `export default ${JSON.stringify(readFileSync(path, "utf8").replaceAll(/ *\/\/.*$/gm, ""))}`;
    },
  };
}
