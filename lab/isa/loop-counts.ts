// The instructions of a kernel's innermost loops, in the machine code that Mesa's drivers for AMD and Intel print.

/** What one round of a loop executes, both sides of a branch counted. Packed multiply-adds are two, a dot of bytes is four. */
export interface LoopCounts {
  readonly multiplyAdds: number;
  /** Of vectors: those that have a value for every lane. */
  readonly alu: number;
  readonly memory: number;
}

interface Instruction {
  readonly counts: LoopCounts;
  /** The label it jumps to, "" for others. */
  readonly target: string;
}

/** @returns the loops that multiply and add, in the code's order, without those whose multiply-adds are mostly one's within */
export function innermostLoops(code: string): LoopCounts[] {
  const parse = /^BB0:/m.test(code) ? ofAmd : ofIntel;
  const lanes = Number(/^Max dispatch width = (\d+)/m.exec(code)?.[1]);
  const labels = new Map<string, number>();
  const instructions: Instruction[] = [];
  for (const line of code.split("\n")) {
    const [, label] = /^(BB\d+|LABEL\d+):/.exec(line) ?? [];
    const instruction = parse(line, lanes);
    if (label) labels.set(label, instructions.length);
    else if (instruction) instructions.push(instruction);
  }
  const loops = instructions.flatMap(({ target }, end) => {
    const start = labels.get(target) ?? Infinity;
    const counts = instructions.slice(start, end + 1).reduce(add, { multiplyAdds: 0, alu: 0, memory: 0 });
    return counts.multiplyAdds > 0 ? [{ start, end, counts }] : [];
  });
  const isInnermost = ({ start, end, counts }: (typeof loops)[number]) =>
    !loops.some(
      (loop) =>
        loop.start >= start &&
        loop.end <= end &&
        loop.end - loop.start < end - start &&
        2 * loop.counts.multiplyAdds > counts.multiplyAdds,
    );
  return loops.filter(isInnermost).map(({ counts }) => counts);
}

function add(sum: LoopCounts, { counts }: Instruction): LoopCounts {
  const { multiplyAdds, alu, memory } = counts;
  return { multiplyAdds: sum.multiplyAdds + multiplyAdds, alu: sum.alu + alu, memory: sum.memory + memory };
}

function ofAmd(line: string): Instruction | null {
  const [, name, rest = ""] = /^\s+([a-z]\w+)([^;]*)/.exec(line) ?? [];
  if (!name) return null;
  const sizes = [name, ...(rest.match(/v_dual_\w+/g) ?? [])].map((each) => {
    if (each.startsWith("v_dot4")) return 4;
    if (each.startsWith("v_pk_fma")) return 2;
    return Number(/^v_(dual_)?(fma|mad|mac)\w*_f(16|32)/.test(each));
  });
  const multiplyAdds = sizes.reduce((sum, size) => sum + size, 0);
  const memory = Number(/^(buffer|global|ds|s_load|s_buffer)_/.test(name));
  const target = name.includes("branch") ? (/BB\d+/.exec(rest)?.[0] ?? "") : "";
  return { counts: { multiplyAdds, alu: Number(name.startsWith("v_")), memory }, target };
}

function ofIntel(line: string, lanes: number): Instruction | null {
  const [, name = "", width, rest = ""] = /^(?:\([^)]*\) )?([a-z]\w+)[.\w ]*\((\d+)\)(.*)/.exec(line) ?? [];
  if (!width) return null;
  const target = name === "while" ? (/LABEL\d+/.exec(rest)?.[0] ?? "") : "";
  const isAlu = !/^(send|sync|nop|if|else|endif|while|break|cont|halt|jmpi)/.test(name);
  const isScalar = width === "1" || (rest.includes("WE_all") && Number(width) < lanes);
  const multiplyAdds = name === "dp4a" ? 4 : Number(name === "mad" && />H?F\b/.test(rest));
  return { counts: { multiplyAdds, alu: Number(isAlu && !isScalar), memory: Number(name.startsWith("send")) }, target };
}
