import type {
  ContentLibraryActivities,
  LibraryContent,
  LibraryItem,
} from '../../contracts/virtual-machine/content-library.ts';
import type { Clock } from '../../runtime/clock.ts';
import { currentScope, type ActivityScope } from '../lib/context.ts';
import type { VcenterRest } from './rest/client.ts';
import { findLibrary, listItems, readItem } from './rest/content-library.ts';

/** As many as the client has connections: those that wait would run out of time. */
const atOnce = 4;

export interface ContentLibraryDependencies {
  rest: VcenterRest;
  /** The running activity. Default: Temporal's. */
  scope?: (clock: Clock) => ActivityScope;
  clock: Clock;
}

/** Activities on the content libraries of one vCenter, queue `vsphere:<vcenter>`. */
export const createContentLibraryActivities = ({
  rest,
  scope = currentScope,
  clock,
}: ContentLibraryDependencies): ContentLibraryActivities => ({
  readContentLibrary: ({ library }) => readContentLibrary(rest, scope(clock), library),
});

async function readContentLibrary(rest: VcenterRest, scope: ActivityScope, library: string): Promise<LibraryContent> {
  const { signal } = scope;
  const { id, name } = await findLibrary(rest, library, signal);
  const left = await listItems(rest, id, signal);
  const items: LibraryItem[] = [];
  while (left.length > 0) {
    const read = await Promise.all(left.splice(0, atOnce).map((itemId) => readItem(rest, itemId, signal)));
    items.push(...read.filter((item) => item !== null));
    scope.heartbeat();
  }
  return { id, name, items: items.toSorted((a, b) => (a.id < b.id ? -1 : 1)) };
}
