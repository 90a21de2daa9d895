import { serve, type ServeHome } from "./serve.ts";

/** Serves as the command line says until a signal, then ends the process. */
export async function serveProcess(home: Pick<ServeHome, "createEngine" | "openWebGpu">): Promise<never> {
  const { argv, env, stdout, stderr } = process;
  // The reader of the output may have ended, as `head` does. Answers go on, and so does draining.
  for (const output of [stdout, stderr]) output.on("error", () => undefined);
  const ended = new Promise<string>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"]) {
      process.once(signal, () => {
        resolve(signal);
        // A second signal ends the process at once.
        for (const again of ["SIGINT", "SIGTERM"]) process.on(again, () => process.exit(130));
      });
    }
  });
  const print = (text: string) => void stdout.write(text);
  const printError = (text: string) => void stderr.write(text);
  // Dawn would keep the process alive.
  process.exit(await serve(argv.slice(2), { ...home, env, print, printError, ended }));
}
