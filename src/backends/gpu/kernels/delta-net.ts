import { convWidthOf, type DeltaNet } from "../../../models/graph.ts";
import { strideOf } from "../padding.ts";

/** The lanes that share a workgroup's columns of a state. The bits are the same. */
export type StateLanes = Readonly<Record<"LANES" | "COLUMNS", number>>;

/** A column's values fit into the registers of eight lanes. */
export const GPU_LANES: StateLanes = { LANES: 128, COLUMNS: 16 };
/** One subgroup, so that its barriers cost nothing. */
export const PLAIN_LANES: StateLanes = { LANES: 4, COLUMNS: 4 };

type NetSizes = Pick<DeltaNet, "keyHeads" | "valueHeads" | "keyDim" | "valueDim" | "taps" | "headOrder">;

/** Returns the constants of a delta net's kernels; those of the norm without its epsilon. */
export function deltaNetConstants(net: NetSizes, lanes: StateLanes) {
  const { keyHeads: KEY_HEADS, valueHeads: VALUE_HEADS, keyDim: KEY_DIM, valueDim: VALUE_DIM, taps: TAPS } = net;
  const WIDTH = convWidthOf(net);
  const VALUE_WIDTH = VALUE_HEADS * VALUE_DIM;
  const CONV_WORDS = (TAPS - 1) * WIDTH;
  const STATE_WORDS = CONV_WORDS + KEY_DIM * VALUE_WIDTH;
  const X_STRIDE = strideOf(WIDTH + VALUE_WIDTH + 2 * VALUE_HEADS);
  const Y_STRIDE = strideOf(VALUE_WIDTH);
  const ofHeads = { KEY_DIM, VALUE_DIM, KEY_HEADS, VALUE_HEADS, TILED: net.headOrder === "tiled" };
  const WEIGHTS_STRIDE = strideOf(WIDTH);
  return {
    ofConv: { LANES: 64, TAPS, WIDTH, WEIGHTS_STRIDE, VALUE_WIDTH, HEADS: VALUE_HEADS, X_STRIDE, STATE_WORDS },
    ofRule: { ...lanes, ...ofHeads, CONV_WORDS, X_STRIDE, Y_STRIDE, STATE_WORDS },
    ofNorm: { WIDTH: VALUE_DIM, Z_AT: WIDTH, X_STRIDE, Y_STRIDE },
  };
}
