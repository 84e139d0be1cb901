import { z } from 'zod';

import type {
  ContentLibraryActivities,
  LibraryContent,
  LibraryItem,
} from '../../../contracts/virtual-machine/content-library.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { droverFailure, failureCode } from '../../../runtime/failure.ts';
import { type ActivityScope, currentScope } from '../../lib/context.ts';
import type { VcenterRest } from './client.ts';

const path = '/com/vmware/content/library';
/** Some servers say null where there are none. */
const ids = z
  .array(z.string())
  .nullable()
  .transform((value) => value ?? []);
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/iu;

/** @param library name or id. @throws VsphereObjectNotFound; InvalidInput where several have that name */
export async function findLibrary(
  rest: VcenterRest,
  library: string,
  signal: AbortSignal,
): Promise<{ id: string; name: string }> {
  const found = uuid.test(library)
    ? [library]
    : await rest.call(
        { method: 'POST', path, query: { '~action': 'find' }, body: { spec: { name: library } } },
        ids,
        signal,
      );
  const [id, ...others] = found;
  if (id === undefined)
    throw droverFailure('VsphereObjectNotFound', `vCenter ${rest.vcenter} has no content library ${library}`);
  if (others.length > 0)
    throw droverFailure(
      'InvalidInput',
      `library: vCenter ${rest.vcenter} has ${found.length} of the name ${library}; give the id of one: ${found.join(', ')}`,
    );
  return await rest.call(
    { method: 'GET', path: `${path}/id:${encodeURIComponent(id)}` },
    z.looseObject({ id: z.string(), name: z.string() }),
    signal,
  );
}

export const listItems = (rest: VcenterRest, libraryId: string, signal: AbortSignal): Promise<string[]> =>
  rest.call({ method: 'GET', path: `${path}/item`, query: { library_id: libraryId } }, ids, signal);

export const itemSchema = z.looseObject({
  id: z.string(),
  name: z.string(),
  type: z.string().default(''),
  content_version: z.string().default(''),
  cached: z.boolean().optional(),
  size: z.number().optional(),
  security_compliance: z.boolean().nullish(),
});

/** Null: it is gone, or no VM can ever be made of its kind. */
export async function readItem(rest: VcenterRest, itemId: string, signal: AbortSignal): Promise<LibraryItem | null> {
  try {
    return toItem(
      await rest.call({ method: 'GET', path: `${path}/item/id:${encodeURIComponent(itemId)}` }, itemSchema, signal),
    );
  } catch (error) {
    if (failureCode(error) === 'VsphereObjectNotFound') return null;
    throw error;
  }
}

const types: Readonly<Record<string, LibraryItem['type']>> = { ovf: 'OVF', iso: 'ISO' };

/** What vCenter does not say is no problem. Pure. */
export function toItem({
  id,
  name,
  type,
  content_version: version,
  cached,
  size,
  security_compliance: compliant,
}: z.output<typeof itemSchema>): LibraryItem | null {
  const known = types[type.toLowerCase()];
  return known === undefined
    ? null
    : { id, name, type: known, version, problem: problemOf(cached, size, compliant ?? undefined) };
}

function problemOf(
  cached: boolean | undefined,
  size: number | undefined,
  compliant: boolean | undefined,
): LibraryItem['problem'] {
  if (compliant === false)
    return {
      reason: 'ProviderSecurityNotCompliant',
      message: 'It does not comply with the security policy of its library',
    };
  if (cached === false) return { reason: 'ProviderNotReady', message: 'Its library has not fetched its files yet' };
  return size === 0 ? { reason: 'ProviderNotReady', message: 'It has no files yet' } : null;
}

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
