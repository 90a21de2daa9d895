let numAgain = 0;

/**
 * Imports a module that may have failed before. Some browsers remember that for as long as the page lives, so it is tried
 * under another address at once.
 */
export async function importLate<Module>(load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (error) {
    const address = /https?:\S+$/.exec(String(error))?.[0];
    if (address === undefined) throw error;
    return (await import(/* @vite-ignore */ `${address}?again=${++numAgain}`)) as Module;
  }
}
