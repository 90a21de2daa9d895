// How much processor time the threads of a process and of its children took: unlike a profile's samples it does not count the
// time that a thread waits for a core.

import { readdirSync, readFileSync } from "node:fs";

/**
 * Returns milliseconds of all threads of this name; null where the system doesn't tell so.
 *
 * @param {number | undefined} pid @param {string} name
 */
export function threadCpuMs(pid, name) {
  if (process.platform !== "linux" || pid === undefined) return null;
  let ns = 0;
  for (const one of withChildren(pid)) {
    for (const thread of entries(`/proc/${one}/task`)) {
      const folder = `/proc/${one}/task/${thread}`;
      if (read(`${folder}/comm`).trim() === name) ns += Number(read(`${folder}/schedstat`).split(" ")[0]);
    }
  }
  return ns / 1e6;
}

function withChildren(/** @type {number} */ pid) {
  /** @type {Map<number, number[]>} */
  const children = new Map();
  for (const id of entries("/proc").filter((name) => /^\d+$/.test(name))) {
    // The second field is the name in brackets, which may hold anything.
    const parent = Number(read(`/proc/${id}/stat`).split(") ").at(-1)?.split(" ")[1]);
    children.set(parent, [...(children.get(parent) ?? []), Number(id)]);
  }
  const all = [pid];
  for (const one of all) all.push(...(children.get(one) ?? []));
  return all;
}

/** A process may end while it is looked at. */
function entries(/** @type {string} */ folder) {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function read(/** @type {string} */ file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
