let numAgain = 0;

/** Imports a module that may have failed before: some browsers remember that, so it is tried under another address. */
export async function importWithRetry<Module>(load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (error) {
    const address = /https?:\S+$/.exec(String(error))?.[0];
    if (address === undefined) throw error;
    return (await import(/* @vite-ignore */ `${address}?again=${++numAgain}`)) as Module;
  }
}
