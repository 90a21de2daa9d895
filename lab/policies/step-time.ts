import type { StepReport } from "../../src/protocol/reports.ts";

/** The sizes that determine a step's time. */
export interface StepSize {
  readonly rows: number;
  /** Positions that the rows attend to, their own included. */
  readonly attended: number;
}

/** Milliseconds of a step: base + perRow * rows + perAttended * attended. */
export interface StepTimeModel {
  readonly baseMs: number;
  readonly perRowMs: number;
  readonly perAttendedMs: number;
}

interface Fit {
  readonly model: StepTimeModel;
  /** The median of |predicted - measured| / measured. */
  readonly error: number;
}

interface Point {
  readonly stepMs: number;
  /** The value that each factor is multiplied by. */
  readonly x: readonly number[];
}

const ROUNDS = 30;
const SWEEPS = 1000;

export function stepMsOf({ baseMs, perRowMs, perAttendedMs }: StepTimeModel, { rows, attended }: StepSize): number {
  return baseMs + perRowMs * rows + perAttendedMs * attended;
}

/**
 * Fits the model to recorded steps: least absolute deviations relative to the step's time, no coefficient below zero.
 * So a step that the machine delayed counts like any other. Solved by reweighted least squares.
 */
export function fitStepTime(steps: readonly Pick<StepReport, "stepMs" | "entries">[]): Fit {
  const points: Point[] = steps
    .filter(({ stepMs }) => stepMs > 0)
    .map(({ stepMs, entries }) => {
      const rows = entries.reduce((sum, entry) => sum + entry.rows, 0);
      const attended = entries.reduce((sum, entry) => sum + entry.rows * (entry.start + (entry.rows + 1) / 2), 0);
      return { stepMs, x: [1, rows, attended] };
    });
  const factors = [0, 0, 0];
  const predicted = (x: readonly number[]) => x.reduce((sum, value, i) => sum + value * (factors[i] ?? 0), 0);
  let weights = points.map(({ stepMs }) => 1 / stepMs ** 2);
  for (let round = 0; round < ROUNDS; round++) {
    solve(points, weights, factors);
    weights = points.map(({ stepMs, x }) => 1 / stepMs / Math.max(0.001 * stepMs, Math.abs(stepMs - predicted(x))));
  }
  const errors = points.map(({ stepMs, x }) => Math.abs(predicted(x) - stepMs) / stepMs).toSorted((a, b) => a - b);
  const [baseMs = 0, perRowMs = 0, perAttendedMs = 0] = factors;
  return { model: { baseMs, perRowMs, perAttendedMs }, error: errors[Math.floor(errors.length / 2)] ?? NaN };
}

/** Weighted least squares without negative factors, by descent along one factor after the other. */
function solve(points: readonly Point[], weights: readonly number[], factors: number[]): void {
  const sum = (value: (point: Point) => number) =>
    points.reduce((total, point, n) => total + (weights[n] ?? 0) * value(point), 0);
  const products = factors.map((_, i) => factors.map((__, j) => sum(({ x }) => (x[i] ?? 0) * (x[j] ?? 0))));
  const targets = factors.map((_, i) => sum(({ x, stepMs }) => (x[i] ?? 0) * stepMs));
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    for (const i of factors.keys()) {
      const own = products[i]?.[i] ?? 0;
      const others = factors.reduce((total, factor, j) => total + (j === i ? 0 : factor * (products[i]?.[j] ?? 0)), 0);
      factors[i] = own > 0 ? Math.max(0, ((targets[i] ?? 0) - others) / own) : 0;
    }
  }
}
