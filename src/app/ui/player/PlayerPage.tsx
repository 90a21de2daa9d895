import { useCallback, useEffect, useState } from "react";
import { readRecording, toErrorData } from "../../../index.ts";
import { pendingRecording } from "../../state/player/pending-recording.ts";
import { Player } from "../../state/player/player.ts";
import { RecordedRun } from "../../state/player/recorded-run.ts";
import { PageHead } from "../bar/PageHead.tsx";
import { chooseFiles } from "../choose-files.ts";
import { classNames } from "../class-names.ts";
import { Button } from "../components/Button.tsx";
import { useDrop } from "../use-drop.ts";
import { PlayerView } from "./PlayerView.tsx";

/** The recording that the app is built with. */
const EXAMPLE = "recordings/example.jsonl";

interface Opened {
  /** Number of the opened recording: names may be the same. */
  readonly number: number;
  readonly name: string;
  readonly player: Player;
}

/** Plays recordings of runs. It needs no engine, and so works in any browser; the chats' engine computes a run again. */
export function PlayerPage() {
  const [opened, setOpened] = useState<Opened | null>(null);
  const [problem, setProblem] = useState("");

  const open = useCallback(async (name: string, read: () => Promise<string> | string) => {
    setProblem("");
    try {
      const player = new Player(new RecordedRun(readRecording(await read())));
      if (player.run.steps.length === 0)
        throw new Error(`${name} holds no steps: nothing was computed while it was recorded.`);
      setOpened((before) => ({ number: (before?.number ?? 0) + 1, name, player }));
      if (!matchMedia("(prefers-reduced-motion: reduce)").matches) player.togglePlay();
    } catch (error) {
      setProblem(toErrorData(error).message);
    }
  }, []);
  const openFile = (file: File | undefined) => {
    if (file) void open(file.name, () => file.text());
  };
  const openExample = () =>
    void open("the example", async () => {
      const response = await fetch(EXAMPLE);
      if (!response.ok) throw new Error(`The example could not be loaded (HTTP ${response.status}).`);
      return response.text();
    });

  useEffect(() => {
    const take = () => {
      const given = pendingRecording.getState();
      if (given === null) return;
      pendingRecording.setState(null, true);
      void open(given.name, () => given.text);
    };
    take();
    return pendingRecording.subscribe(take);
  }, [open]);

  const { isOver, handlers } = useDrop(({ files }) => openFile(files[0]));
  const alert = problem !== "" && (
    <p className="callout bad mt-2" role="alert">
      {problem}
    </p>
  );
  const openButtons = (
    <>
      <Button
        look={opened ? "quiet" : "ink"}
        onClick={() => chooseFiles(([file]) => openFile(file), { accept: ".jsonl" })}
      >
        Open a recording …
      </Button>
      {!opened && <Button onClick={openExample}>Play the example</Button>}
    </>
  );
  return (
    // oxlint-disable-next-line jsx-a11y/no-static-element-interactions -- the button does the same
    <div
      className={classNames(
        "flex h-dvh min-h-0 flex-col",
        isOver && "outline-2 -outline-offset-6 outline-focus outline-dashed",
      )}
      {...handlers}
    >
      <PageHead title="Player">{opened && openButtons}</PageHead>
      {opened && alert}
      {opened ? (
        <PlayerView key={opened.number} name={opened.name} player={opened.player} />
      ) : (
        <main className="grid flex-1 place-content-center overflow-auto p-4">
          <section className="box poster" aria-label="About">
            <h2 className="heading">Play a recording</h2>
            <p>
              A recording holds every step of a run: who shared it, which blocks of the cache it took, and the words it
              made. Play it, go through it step by step, compute it again, or save it as a trace for Perfetto. Chats
              save recordings under “More” in the batch.
            </p>
            {alert}
            <div className="row mt-4 mb-3 flex-wrap">{openButtons}</div>
            <p className="small">You can also drop a file here. It stays in this browser.</p>
          </section>
        </main>
      )}
    </div>
  );
}
