import { spawnSync } from "node:child_process";

/** The command that installs Debian packages; none where there is no apt-get, or it would ask for a password. */
export function* aptGetInstall(/** @type {string} */ packages) {
  const asRoot = rootPrefix();
  if (asRoot !== null) yield `${asRoot}apt-get update && ${asRoot}apt-get install -y ${packages}`;
}

/** Returns the prefix of a command that only root may run; null if there is no way. */
export function rootPrefix() {
  const succeeds = (/** @type {string} */ command) =>
    spawnSync(command, { shell: true, stdio: "ignore", timeout: 10_000 }).status === 0;
  if (process.platform !== "linux" || !succeeds("command -v apt-get")) return null;
  if (process.getuid?.() === 0) return "";
  return succeeds("sudo -n true") ? "sudo -n " : null;
}
