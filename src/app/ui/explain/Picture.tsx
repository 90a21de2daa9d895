import { IconButton } from "../components/IconButton.tsx";
import type { Explanation } from "./explanations.ts";
import css from "./Picture.module.css";
import { numStepsOf, Run, useSteps } from "./Run.tsx";

/** The whole takes less than five seconds and then rests: nothing moves for long by itself. */
const STEP_MS = 350;

/** The run of an explanation, step by step. */
export function Picture({ explanation: { picture, pictureWords } }: { explanation: Explanation }) {
  const { upTo, isOver, isStill, again } = useSteps(numStepsOf(picture), STEP_MS);
  return (
    <div className={css.picture}>
      <Run rows={picture} upTo={upTo} label={pictureWords} />
      <div className={css.foot}>
        <p>{pictureWords}</p>
        {!isStill && <IconButton icon="again" name="Play again" disabled={!isOver} onClick={again} />}
      </div>
    </div>
  );
}
