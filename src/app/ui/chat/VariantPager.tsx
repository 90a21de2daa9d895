import { IconButton } from "../components/Button.tsx";

interface VariantPagerProps {
  /** Ids of the turn and its variants. */
  turnIds: readonly number[];
  chosenId: number;
  /** Whether another variant can be chosen. */
  isIdle: boolean;
  onChoose: (turnId: number) => void;
}

/** Goes through the variants of a turn, in the order in which they were asked. */
export function VariantPager({ turnIds, chosenId, isIdle, onChoose }: VariantPagerProps) {
  const sorted = turnIds.toSorted((a, b) => a - b);
  const at = sorted.indexOf(chosenId);
  // A disabled button would lose the focus.
  const arrow = (name: "Previous" | "Next", next: number | undefined) => (
    <IconButton
      icon={name === "Previous" ? "left" : "right"}
      className="-my-1 w-6 max-sm:-my-2 max-sm:w-9"
      name={`${name} variant`}
      aria-disabled={!isIdle || next === undefined}
      onClick={() => isIdle && next !== undefined && onChoose(next)}
    />
  );
  return (
    <fieldset className="flex flex-none items-center text-ink-3" aria-label="Variants">
      {arrow("Previous", sorted[at - 1])}
      <span className="min-w-7 text-center t-12">
        <span className="sr-only">Variant </span>
        {at + 1}/{sorted.length}
      </span>
      {arrow("Next", sorted[at + 1])}
    </fieldset>
  );
}
