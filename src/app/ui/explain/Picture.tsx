import { IconButton } from "../components/IconButton.tsx";
import type { Explanation } from "./explanations.ts";
import { numStepsOf, Run, useSteps } from "./Run.tsx";

/** The whole takes less than five seconds and then rests: nothing moves for long by itself. */
const STEP_MS = 350;

/** The run of an explanation, step by step. */
export function Picture({ explanation: { picture, pictureWords } }: { explanation: Explanation }) {
  const { upTo, isOver, isStill, again } = useSteps(numStepsOf(picture), STEP_MS);
  return (
    <div className="rounded-md bg-surface-2 p-3 [&_text]:fill-ink-2 [&_text]:t-11 [&>svg]:block [&>svg]:w-full [&>svg]:max-w-90">
      <Run rows={picture} upTo={upTo} label={pictureWords} />
      <div className="mt-2 flex items-start gap-2">
        {/* As high as its longest words, so that the list below stays. */}
        <p className="min-h-12 flex-1 t-12 text-ink-2">{pictureWords}</p>
        {!isStill && <IconButton icon="again" name="Play again" disabled={!isOver} onClick={again} />}
      </div>
    </div>
  );
}
