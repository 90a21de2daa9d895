// How attention is divided among workgroups: numbers that shaders/attention.wgsl and attention-quad.wgsl take.

/** What attention's kernels bind, by the names that all of them have for it. */
export type AttentionBuffers = Readonly<
  Record<
    "qkv" | "rows" | "block_tables" | "key_cache" | "value_cache" | "spans" | "step" | "y",
    GPUBuffer | GPUBufferBinding
  >
>;

/** The window of a layer that sees all positions. */
export const UNLIMITED_WINDOW = 2 ** 32 - 1;

/** Most lanes of a workgroup on every adapter, and so a bound on the head's size: 4 values per lane. */
const MAX_LANES = 256;
export const MAX_HEAD_SIZE = 4 * MAX_LANES;

/** Values of a head, over 4, that the four lanes of a quad hold: four each. */
export const QUAD_HEAD_VEC4 = 16;

/** Whether attention on a software adapter works in quads of lanes, without workgroup memory. */
export function usesQuads({ hasSubgroups }: { readonly hasSubgroups: boolean }, headVec4: number): boolean {
  return hasSubgroups && headVec4 <= QUAD_HEAD_VEC4;
}

/** Positions of a split, or slightly fewer, unless the head is so large that a tile has more. */
const SPLIT_POSITIONS = 128;

/** Most queries that share a load of keys and values: their sums take registers, of which Intel's GPUs would spill 80. */
const MAX_QUERIES = 8;
const FEW_QUERIES = 4;
/** Workgroup memory of every adapter. */
const WORKGROUP_BYTES = 16_384;

/** Returns how many query heads of one key and value head a workgroup computes at once. The bits don't depend on it. */
export function sharedQueries(heads: number, kvHeads: number, most: number): { QUERIES: number; workgroups: number } {
  const group = heads / kvHeads;
  const passes = Math.ceil(group / most);
  return { QUERIES: Math.ceil(group / passes), workgroups: kvHeads * passes };
}

/** Returns the most queries for which a workgroup has registers and memory. */
export function mostQueries(headVec4: number, hasFewRegisters = false): number {
  const { GROUPS, LANES } = attentionTile(headVec4);
  const rest = WORKGROUP_BYTES - 4 * LANES;
  const most = hasFewRegisters ? FEW_QUERIES : MAX_QUERIES;
  return Math.max(1, Math.min(most, Math.floor(rest / (16 * headVec4 + 24 * LANES + 8 * GROUPS))));
}

/** Returns how positions are distributed: by the head's size alone, so that all rows have one order of additions. */
export function attentionTile(headVec4: number): {
  readonly GROUPS: number;
  readonly LANES: number;
  readonly SPLIT: number;
} {
  const GROUPS = Math.max(1, Math.floor(64 / headVec4));
  const LANES = GROUPS * headVec4;
  return { GROUPS, LANES, SPLIT: LANES * Math.max(1, Math.floor(SPLIT_POSITIONS / LANES)) };
}

/**
 * Returns whether a step's splits get workgroups of their own. They do if rows are few, and would leave most of a GPU idle
 * while the longest one is computed; merging them costs another dispatch, too much for a short context. The bits are the
 * same.
 * @param longest most positions that a row of the step sees
 */
export function isSplit(rows: number, longest: number): boolean {
  return rows <= MAX_SPLIT_ROWS && longest >= SPLIT_FROM;
}

export const MAX_SPLIT_ROWS = 64;
export const SPLIT_FROM = 512;

export function maxSplits(headVec4: number, maxLength: number): number {
  return Math.ceil(maxLength / attentionTile(headVec4).SPLIT);
}

/** Returns the most splits in which a row sees positions: `seen` of at most `longest`, which may begin inside a split. */
export function splitsSeen(seen: number, longest: number, split: number): number {
  return Math.min(Math.ceil(longest / split), Math.ceil((seen - 1) / split) + 1);
}

/** Returns the most floats that the splits of a step's rows take. */
export function splitFloats(
  { numHeads, headDim }: { numHeads: number; headDim: number },
  { maxRows, maxLength }: { maxRows: number; maxLength: number },
): number {
  const headVec4 = Math.ceil(headDim / 4);
  return Math.min(MAX_SPLIT_ROWS, maxRows) * numHeads * maxSplits(headVec4, maxLength) * 4 * (headVec4 + 1);
}

/** Most queries that a quad takes: attention-quad.wgsl has as many variables. */
export const MAX_QUAD_QUERIES = 4;

/** Most quads without a head, as a share of all others: they cost as much. */
const MAX_IDLE = 0.15;

/** How the quads of attention-quad.wgsl share a row's heads. */
interface QuadShares {
  /** Most query heads of a quad, all of one key and value head. The bits don't depend on it. */
  readonly QUERIES: number;
  readonly LANES: number;
  readonly workgroups: number;
}

/** Returns at least two quads per row, so that two cores share even one row, in workgroups of up to four with few idle quads. */
export function quadShares(heads: number, kvHeads: number, most = MAX_QUAD_QUERIES): QuadShares {
  const group = heads / kvHeads;
  const quadsAGroup = Math.min(group, Math.max(Math.ceil(group / most), Math.ceil(2 / kvHeads)));
  const quads = kvHeads * quadsAGroup;
  const isGood = (size: number) => quads > size && size * Math.ceil(quads / size) - quads <= quads * MAX_IDLE;
  const size = [4, 3, 2].find(isGood) ?? 1;
  return { QUERIES: Math.ceil(group / quadsAGroup), LANES: 4 * size, workgroups: Math.ceil(quads / size) };
}
