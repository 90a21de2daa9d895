// npm run bench -- isa: what the compilers of real GPUs make of the kernels, without a GPU. Dawn turns each into SPIR-V, and
// Mesa's drivers compile that for GPUs that are not there. Writes docs/benchmarks/isa.md between two comments.

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { markdownTable } from "../report/table.ts";
import { writeMeasured } from "../report/measured-part.ts";
import { ISA_MODELS, isaKernels } from "../isa/isa-kernels.ts";
import { innermostLoops } from "../isa/loop-counts.ts";
import { aptGetInstall } from "../../tools/browsers/apt-get.mjs";
import { ensureChromium } from "../../tools/browsers/find-chromium.mjs";
import { ensureDawn } from "../../tools/browsers/install-dawn.mjs";
import { INSTALL_MS, root, run as runCommand } from "../../tools/run-command.mjs";
import type { OptionsOf } from "./bench-parts.ts";

const REPORT = "docs/benchmarks/isa.md";
const FOLDER = join(root, ".chorus", "isa");
const PACKAGES =
  "spirv-tools libvulkan1 libvulkan-dev gcc g++ libc6-dev mesa-vulkan-drivers ninja-build bison flex python3-mako python3-ply python3-packaging " +
  "python3-yaml python3-setuptools pkg-config libdrm-dev zlib1g-dev libexpat1-dev libzstd-dev glslang-tools";
/** Most that one kernel may take to compile. */
const COMPILE_MS = 120_000;

const GPUS = ["navi31", "phoenix", "vangogh", "tgl", "dg2", "lnl"];
const INTEL = ["tgl", "dg2", "lnl"];
/** Figures by GPU: the driver's names for them. */
const FIGURES = {
  amd: ["VGPRs", "Subgroups per SIMD", "Spilled VGPRs", "Latency"],
  intel: ["Max live registers", "Max dispatch width", "Spill Count"],
};

interface Kernel {
  readonly label: string;
  readonly code: string;
}

type Places = Readonly<Record<"drivers" | "shim" | "swiftshader" | "dawn", string>>;

export async function run(options: OptionsOf<"isa">): Promise<void> {
  const { gpus = GPUS.join(","), models, only = "", loops: hasLoops = false, kernels: file } = options;
  const places = await prepare();
  const names = models?.split(",") ?? Object.keys(ISA_MODELS);
  const given: Kernel[] = file
    ? JSON.parse(readFileSync(file, "utf8"))
    : names.flatMap((name, i) => isaKernels(name, i === 0));
  const kernels = [...new Map(given.map((kernel) => [kernel.label, kernel])).values()].filter(({ label }) =>
    label.includes(only),
  );
  const spirv = spirvOf(kernels, places, file !== undefined);
  const columns = gpus.split(",");
  const rows = kernels.map(({ label }, i) => {
    console.log(`${i + 1} of ${kernels.length}: ${label}`);
    return [label, ...columns.map((gpu) => figuresOf(spirv[i] ?? "", gpu, places, hasLoops))];
  });
  const table = markdownTable(["kernel", ...columns], rows).join("\n");
  const unknown = columns.filter((_, i) => rows.every((row) => row[i + 1] === "refused"));
  if (unknown.length > 0)
    throw new Error(`Every kernel is refused for ${unknown.join(", ")}: is it set up, and so called?`);
  // The report has all of them.
  if (only || models || hasLoops || file || gpus !== GPUS.join(",")) return console.log(table);
  writeMeasured(REPORT, table);
  await runCommand(`oxfmt ${REPORT}`);
  console.log(`Written to ${REPORT}.`);
}

/** Sets everything up where that was not done, on Debian. */
async function prepare(): Promise<Places> {
  const file = join(FOLDER, "places.json");
  if (!existsSync("/etc/debian_version")) {
    throw new Error("isa sets itself up on Debian only: it takes Mesa's drivers and source from Debian's packages.");
  }
  const driver = join("/usr/lib/chromium", "libvk_swiftshader.so");
  if (!existsSync(driver)) await ensureChromium();
  if (!existsSync(driver)) throw new Error(`isa needs Debian's chromium: there is no ${driver}.`);
  const dawn = await ensureDawn();
  if (!dawn) throw new Error("isa needs Dawn: see above for what was tried.");
  if (!existsSync(file)) {
    console.log("Sets up Mesa's compilers, once: about five minutes, and half a gigabyte in .chorus/isa.");
    const [install] = [...aptGetInstall(PACKAGES)];
    const isInstalled =
      install !== undefined && (await runCommand(install, { output: "if-failed", limitMs: INSTALL_MS }));
    if (!isInstalled) throw new Error(`isa needs these packages of Debian, which could not be installed: ${PACKAGES}`);
    // Relative to the repository, whose own path may have spaces.
    const setup = `sh lab/isa/setup.sh .chorus/isa ${driver}`;
    if (!(await runCommand(setup, { output: "if-failed", limitMs: INSTALL_MS })))
      throw new Error(`It failed: ${setup}`);
  }
  return { ...JSON.parse(readFileSync(file, "utf8")), dawn: dawn.module };
}

/** @param isForeign with what only Mesa's driver for CPUs has: halves */
function spirvOf(kernels: readonly Kernel[], { drivers, swiftshader, dawn }: Places, isForeign: boolean): string[] {
  mkdirSync(FOLDER, { recursive: true });
  const [list, dump] = [join(FOLDER, "kernels.json"), join(FOLDER, "dump.txt")];
  writeFileSync(list, JSON.stringify(kernels));
  const driver = isForeign
    ? { REAL_ICD: join(drivers, "libvulkan_lvp.so"), LD_LIBRARY_PATH: drivers }
    : { REAL_ICD: swiftshader };
  const env = { ...process.env, VK_DRIVER_FILES: join(FOLDER, "nopipe.json"), ...driver };
  // A file, since Dawn writes more than a pipe holds.
  const { status, stderr } = spawnSync(process.execPath, ["lab/isa/dump.mjs", dawn, list], {
    env,
    stdio: ["ignore", openSync(dump, "w"), "pipe"],
    cwd: root,
    timeout: INSTALL_MS,
  });
  if (status !== 0)
    throw new Error(`Dawn refuses a kernel: ${/GPU.*Error.*/.exec(String(stderr))?.[0] ?? String(stderr)}`);
  return readFileSync(dump, "utf8")
    .split("=====")
    .slice(1)
    .map((part) => {
      const text = part.slice(part.indexOf("; SPIR-V"));
      // spirv-as does not know it yet.
      return text.slice(0, text.lastIndexOf("OpFunctionEnd") + 14).replaceAll(/^.*maximal(_r|lyR)econverge.*$/gimu, "");
    });
}

/** Returns registers, waves, spilled registers and latency on an AMD GPU; registers, lanes and spilled registers on an Intel one. */
function figuresOf(text: string, gpu: string, { drivers, shim }: Places, hasLoops: boolean): string {
  const file = join(FOLDER, "kernel.spv");
  const assembled = spawnSync("spirv-as", ["--target-env", "spv1.4", "-", "-o", file], {
    input: text,
    timeout: COMPILE_MS,
  });
  if (assembled.status !== 0) throw new Error(`spirv-as: ${assembled.error?.message ?? String(assembled.stderr)}`);
  const isIntel = INTEL.includes(gpu);
  const own = isIntel ? { LD_PRELOAD: shim, INTEL_STUB_GPU_PLATFORM: gpu } : { RADV_FORCE_FAMILY: gpu };
  const env = {
    ...process.env,
    LD_LIBRARY_PATH: drivers,
    MESA_SHADER_CACHE_DISABLE: "true",
    VK_DRIVER_FILES: join(FOLDER, isIntel ? "intel.json" : "amd.json"),
    ...own,
  };
  const { status, stdout, error } = spawnSync(join(FOLDER, "isa"), [file, ...(hasLoops ? ["--asm"] : [])], {
    env,
    encoding: "utf8",
    maxBuffer: 2 ** 28,
    timeout: COMPILE_MS,
  });
  if (error) throw new Error(`A kernel could not be compiled for ${gpu}: ${error.message}`);
  if (status !== 0) return "refused";
  if (hasLoops) {
    const loops = innermostLoops(stdout);
    return loops.map(({ multiplyAdds, alu, memory }) => `${multiplyAdds}: ${alu} + ${memory}`).join(", ");
  }
  return FIGURES[isIntel ? "intel" : "amd"]
    .map((name) => new RegExp(`^${name} = (\\d+)$`, "m").exec(stdout)?.[1] ?? "–")
    .join(" / ");
}
