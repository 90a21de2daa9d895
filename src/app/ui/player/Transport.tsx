import { chromeTrace } from "../../../index.ts";
import { SPEEDS, type Player } from "../../state/player/player.ts";
import { Button } from "../components/Button.tsx";
import { IconButton } from "../components/IconButton.tsx";
import { Icon } from "../components/Icon.tsx";
import { formatCount } from "../format.ts";
import { fileNameOf, saveFile } from "../save-file.ts";
import { useStore } from "../use-store.ts";
import css from "./Transport.module.css";

/** The player's controls: play, steps, place, speed, and the trace. */
export function Transport({ name, player }: { name: string; player: Player }) {
  const { run } = player;
  const { place, isPlaying, speed } = useStore(player.store);
  const seconds = (at: number) => `${((run.playMs[at] ?? 0) / 1000).toFixed(1)} s`;
  const { model } = run.recording;
  const saveTrace = () => {
    saveFile(`${fileNameOf(name.replace(/\.jsonl$/, ""))}-trace.json`, chromeTrace(run.recording), "application/json");
  };
  return (
    <section className={css.transport} aria-label="Player controls">
      <div className="row tight">
        <IconButton icon="stepBack" name="Step back" title="Step back (←)" onClick={() => player.seek(place - 1)} />
        <Button
          look="ink"
          className={css.play}
          aria-label={isPlaying ? "Pause" : "Play"}
          title={isPlaying ? "Pause (Space)" : "Play (Space)"}
          onClick={() => player.togglePlay()}
        >
          <Icon name={isPlaying ? "pause" : "play"} />
        </Button>
        <IconButton icon="stepOn" name="Step forward" title="Step forward (→)" onClick={() => player.seek(place + 1)} />
      </div>
      <input
        className={css.scrubber}
        type="range"
        aria-label="Step"
        aria-valuetext={`Step ${formatCount(place)} of ${formatCount(run.numSteps)}, ${seconds(place)}`}
        min={0}
        max={run.numSteps}
        value={place}
        onChange={({ currentTarget }) => player.seek(Number(currentTarget.value))}
      />
      <p className={css.where}>
        <b>{formatCount(place)}</b> of {formatCount(run.numSteps)} steps, {seconds(place)}
      </p>
      <label className="row soft">
        <span>Speed</span>
        <select value={speed} onChange={({ currentTarget }) => player.setSpeed(Number(currentTarget.value))}>
          {SPEEDS.map((one) => (
            <option key={one} value={one}>
              {one}×
            </option>
          ))}
        </select>
      </label>
      <Button title="In the Trace Event Format, for ui.perfetto.dev. It holds the words too." onClick={saveTrace}>
        Save as a trace
      </Button>
      <p className={css.what} title={name}>
        {name}: {model.name}, {model.mixture ?? model.dtype},{" "}
        {model.activationDtype === "int8" && "activations in int8, "}
        {model.adapter}
      </p>
    </section>
  );
}
