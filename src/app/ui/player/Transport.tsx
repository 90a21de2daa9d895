import { useStore } from "zustand";
import { chromeTrace } from "../../../index.ts";
import { SPEEDS, type Player } from "../../state/player/player.ts";
import { Button, IconButton } from "../components/Button.tsx";
import { formatCount } from "../format.ts";
import { fileNameOf, saveFile } from "../save-file.ts";

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
    <section className="box row mx-(--page) mb-3 flex-wrap gap-x-3 gap-y-2 px-3 py-2" aria-label="Player controls">
      <div className="row gap-1">
        <IconButton icon="stepBack" name="Step back" title="Step back (←)" onClick={() => player.seek(place - 1)} />
        <Button
          look="ink"
          icon={isPlaying ? "pause" : "play"}
          className="w-10 p-0"
          aria-label={isPlaying ? "Pause" : "Play"}
          title={isPlaying ? "Pause (Space)" : "Play (Space)"}
          onClick={() => player.togglePlay()}
        />
        <IconButton icon="stepOn" name="Step forward" title="Step forward (→)" onClick={() => player.seek(place + 1)} />
      </div>
      <input
        className="min-w-40 flex-1 max-sm:-order-1 max-sm:flex-[1_0_100%]"
        type="range"
        aria-label="Step"
        aria-valuetext={`Step ${formatCount(place)} of ${formatCount(run.steps.length)}, ${seconds(place)}`}
        min={0}
        max={run.steps.length}
        value={place}
        onChange={({ currentTarget }) => player.seek(Number(currentTarget.value))}
      />
      {/* As wide as its longest words: nothing moves while it plays. */}
      <p className="small min-w-[22ch] flex-none [font-variant-numeric:tabular-nums] max-sm:flex-1">
        <b>{formatCount(place)}</b> of {formatCount(run.steps.length)} steps, {seconds(place)}
      </p>
      <label className="row text-ink-2">
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
      <p className="small min-w-0 flex-[1_0_100%] truncate" title={name}>
        {name}: {model.name}, {model.mixture ?? model.dtype},{" "}
        {model.activationDtype === "int8" && "activations in int8, "}
        {model.adapter}
      </p>
    </section>
  );
}
