import { installFolder } from "../../tools/browsers/install-folder.mjs";

/**
 * Installs the peers.
 *
 * @returns {Promise<Record<string, string>>} each peer's version
 */
export async function installPeers() {
  const { isInstalled, versions } = await installFolder(import.meta.dirname, "about 500 MB");
  if (isInstalled) return versions;
  throw new Error(
    "The peers could not be installed: npm's messages above say why. The comparison needs npm's registry once; " +
      "everything else of Chorus does not.",
  );
}
