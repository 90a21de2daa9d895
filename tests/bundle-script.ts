import { build } from "vite";

/** Returns a worker's modules as one script. @param entry from the project's root */
export async function bundleScript(entry: string): Promise<string> {
  const output = await build({
    configFile: false,
    logLevel: "silent",
    build: {
      write: false,
      minify: false,
      lib: { entry, formats: ["es"], fileName: "worker" },
      rolldownOptions: { external: ["node:worker_threads"], output: { codeSplitting: false } },
    },
  });
  const [first] = Array.isArray(output) ? output : [output];
  if (first === undefined || !("output" in first)) throw new Error("vite has built nothing");
  return first.output[0].code;
}
