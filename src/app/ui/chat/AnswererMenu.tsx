import { useStore } from "zustand";
import { localName } from "../../state/chat/asking.ts";
import type { Pane } from "../../state/chat/pane.ts";
import { remoteChoices, remoteName, writeRemote } from "../../state/connections/connections.ts";
import { keyOfChoice } from "../../state/models/model-choice.ts";
import type { LibraryModel, ModelLibraryState } from "../../state/models/model-library.ts";
import { menuItems, perform } from "../actions/actions.ts";
import { useApp, usePage } from "../app/page-context.ts";
import { Icon } from "../components/Button.tsx";
import { Menu, type MenuItem } from "../components/Menu.tsx";

const isHere = ({ isEmbedded, stored }: LibraryModel) => isEmbedded || stored?.status === "whole";
const keysHere = ({ models }: ModelLibraryState) => String(models.filter(isHere).map(({ key }) => key));

/** Names who answers a pane, and changes it: a server's model for this pane, a model of this computer for all panes. */
export function AnswererMenu({ pane }: { pane: Pane }) {
  const page = usePage();
  const { engine, library, connections } = useApp();
  const name = useStore(pane.asking, ({ answerer }) => answerer);
  // Not rendered at each step of a download.
  useStore(library.store, keysHere);
  const items = (): readonly MenuItem[] => {
    const { answerer } = pane.store.getState();
    const local = engine.chosen.getState().model;
    const here = library.store.getState().models.filter((model) => isHere(model) && model.key !== keyOfChoice(local));
    const switchAll = async (key: string) => {
      if (await library.use(key)) pane.answerBy(null);
      // The list says why it could not be loaded. Where another was chosen meanwhile there is nothing to say.
      else if (library.store.getState().models.some((model) => model.key === key && model.error))
        perform("models.open", page);
    };
    return [
      {
        heading: "This pane is answered by",
        label: `${localName(engine)} (this page)`,
        isChecked: answerer === null,
        run: () => pane.answerBy(null),
      },
      ...remoteChoices(connections.store.getState().connections, answerer).map((remote) => ({
        label: remoteName(remote),
        isChecked: writeRemote(remote) === writeRemote(answerer),
        run: () => pane.answerBy(remote),
      })),
      ...here.map(({ key, title }, index) => ({
        ...(index === 0 && { heading: "All panes of this page will use" }),
        label: title,
        name: `All panes of this page will use ${title}`,
        run: () => void switchAll(key),
      })),
      ...menuItems(["models.open", "connections.open"], page, pane),
    ];
  };
  return (
    <Menu
      name={`Pane ${pane.number} is answered by ${name}`}
      look="quiet"
      className="h-(--icon-h) max-w-[45%] flex-initial gap-0.5 pr-1 pl-2 t-12 text-ink-2"
      items={items}
      onOpen={() => void library.refresh()}
    >
      <span className="min-w-0 truncate">{name}</span>
      <Icon name="chevron" />
    </Menu>
  );
}
