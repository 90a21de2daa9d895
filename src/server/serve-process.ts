import { serve, type ServeHome } from "./serve.ts";

/** Serves as the command line says, until a signal ends it. Then ends the process. */
export async function serveProcess(home: Pick<ServeHome, "createEngine" | "openWebGpu">): Promise<never> {
  const { argv, env, stdout, stderr } = process;
  // Whoever read the output may have gone, as `head` does. Answers go on, and so does draining.
  for (const output of [stdout, stderr]) output.on("error", () => undefined);
  const ended = new Promise<string>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"]) {
      process.once(signal, () => {
        resolve(signal);
        // Whoever asks again does not want to wait.
        for (const again of ["SIGINT", "SIGTERM"]) process.on(again, () => process.exit(130));
      });
    }
  });
  const print = (text: string) => void stdout.write(text);
  const printError = (text: string) => void stderr.write(text);
  // Dawn would keep the process alive.
  process.exit(await serve(argv.slice(2), { ...home, env, print, printError, ended }));
}
