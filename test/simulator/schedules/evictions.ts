import { annotations, evictionId } from '../../../contracts/ids.ts';
import { asSignal, messages, type Command } from '../../../contracts/messages.ts';
import { listServers } from '../../../lab/openstack/seed.ts';
import type { Action, Actions, Cast } from './cast.ts';
import { cancel, choose, create, isEven, kvmPath, patch, remove, run, sessionOf, terminate } from './cast.ts';
import type { EventKind, ScheduledEvent } from './schedule.ts';

/** What users do to evictions: to the objects, and to their runs. */

const by = 'schedule';

/** Any of them may be emptied. */
export const hostOf = ({ hosts, machines }: Cast, event: ScheduledEvent): string =>
  choose([...hosts, ...machines], event);

const idOf = (cast: Cast, event: ScheduledEvent): string => evictionId(hostOf(cast, event));
const edit =
  (body: (event: ScheduledEvent) => object): Action =>
  (cast, event) =>
    patch(cast, kvmPath('evictions', hostOf(cast, event)), body(event));
const tell =
  <Argument extends object>(
    command: Command<Argument>,
    argument: (event: ScheduledEvent, cast: Cast) => Omit<Argument, 'by'> | Promise<Omit<Argument, 'by'>>,
  ): Action =>
  async (cast, event) =>
    await run(cast, idOf(cast, event)).signal(asSignal(command), {
      by,
      ...(await argument(event, cast)),
    } as unknown as Argument);

/** A server of the host, as Nova has it. */
async function serverOf(event: ScheduledEvent, cast: Cast): Promise<{ instance: string }> {
  const servers = await listServers(sessionOf(cast), hostOf(cast, event));
  return { instance: choose(servers, { which: event.forMs }).id };
}

/** What people write on an Eviction. Null: taken off. */
const notes: readonly Readonly<Record<string, string | null>>[] = [
  { [annotations.cause]: 'rolling-update' },
  { [annotations.cause]: 'termination' },
  { [annotations.cause]: 'decommission' },
  { [annotations.mode]: 'observe' },
  { [annotations.mode]: null },
  { [annotations.reEnable]: 'true' },
  { [annotations.parallelism]: '3' },
  {
    [annotations.consent]: 'cold-migrate,force-complete',
    [annotations.consentBy]: 'an operator 2026-01-31T12:00:00Z',
  },
  { [annotations.deadline]: '2026-01-31T13:00:00Z' },
  { [annotations.parallelism]: 'many' },
  { [annotations.parallelism]: null },
];
const noteOf = ({ forMs }: ScheduledEvent): object => ({
  metadata: { annotations: choose(notes, { which: forMs }) },
});

type Kind = Extract<EventKind, `${string}Eviction` | 'evict' | `${string}Server` | 'setParallelism' | 'acceptObstacle'>;
type OfEvictions = Exclude<Kind, 'deleteServer' | 'createServer' | 'migrateServer' | 'lockServer'> | 'retryNow';

export const evictionActions: Actions<OfEvictions> = {
  evict(cast, event) {
    const name = hostOf(cast, event);
    const how = isEven(event) ? noteOf(event) : { metadata: {} };
    return create(cast, kvmPath('evictions'), {
      apiVersion: 'kvm.cloud.sap/v1',
      kind: 'Eviction',
      metadata: { name, ...withoutNull((how as { metadata: { annotations?: object } }).metadata) },
      spec: { hypervisor: name, reason: by },
    });
  },
  deleteEviction: (cast, event) => remove(cast, kvmPath('evictions', hostOf(cast, event))),
  editEviction: edit(({ atMs }) => ({ spec: { reason: `${by} ${atMs}` } })),
  annotateEviction: edit(noteOf),
  retryEviction: edit(({ atMs }) => ({ metadata: { annotations: { [annotations.retry]: String(atMs) } } })),
  cancelEviction: cancel(idOf),
  terminateEviction: terminate(idOf),
  pauseEviction: tell(messages.pause, () => ({})),
  resumeEviction: tell(messages.resume, () => ({})),
  skipServer: tell(messages.skipInstance, serverOf),
  retryServer: tell(messages.retryInstance, serverOf),
  setParallelism: tell(messages.setParallelism, ({ forMs }) => ({ parallelism: 1 + (forMs % 4) })),
  acceptObstacle: tell(messages.acceptObstacle, async (event, cast) => ({
    obstacle: `InstanceLocked/${(await serverOf(event, cast)).instance}`,
  })),
  stopEviction: tell(messages.cancelEviction, (event) => ({ abort: isEven(event), reEnable: event.forMs % 3 === 0 })),
  retryNow: tell(messages.retryNow, () => ({})),
};

const withoutNull = ({ annotations: given = {} }: { annotations?: object }): object => ({
  annotations: Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null)),
});
