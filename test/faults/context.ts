import { labClock } from '../../lab/clock.ts';
import { isFailure } from '../../runtime/kubernetes/kubernetes-faults.ts';
import type { Fixture } from './fixture.ts';
import { hostActions } from './host-actions.ts';
import type { HostAlias, ContextBase } from './context-base.ts';
import { raise } from '../raise.ts';
import { hostAliases } from './context-base.ts';
import type { AnyObject, Subject, SubjectKind } from './subjects.ts';
import { isInVcenter, subjects } from './subjects.ts';
import { virtualMachineActions } from './virtual-machine-actions.ts';

/** What a scenario does to its hosts or VMs. */
export type ScenarioContext = ReturnType<typeof openContext>;

/** The fixture's hosts, empty and enabled, or its namespace without VMs, for one run of a scenario. */
export function openContext(fixture: Fixture, kind: SubjectKind, steps: () => readonly string[]) {
  const subject: Subject = subjects[kind];
  const { client, hosts } = fixture;
  const { api } = fixture.environment;
  const hostOf = (alias: HostAlias): string =>
    hosts[hostAliases.indexOf(alias)] ?? raise(new Error(`fixture ${fixture.name} has no host ${alias}`));
  const patience = (): AbortSignal => AbortSignal.timeout(20_000);
  const read = async (alias: HostAlias): Promise<AnyObject | null> => {
    try {
      return (await api.request({ method: 'GET', path: subject.path(hostOf(alias)) }, patience())) as AnyObject;
    } catch (error) {
      if (isFailure(error, 'ObjectNotFound')) return null;
      throw error;
    }
  };
  const tell = async (alias: HostAlias, cause: string): Promise<void> => {
    const { uid = '', generation = 0, resourceVersion = '' } = (await read(alias))?.metadata ?? {};
    await subject.tell(client, hostOf(alias), { uid, generation, resourceVersion, cause });
  };
  const change = async (alias: HostAlias, spec: object): Promise<void> => {
    await api.request(
      { method: 'PATCH', patchType: 'merge', path: subject.path(hostOf(alias)), body: { spec } },
      patience(),
    );
    await tell(alias, 'spec');
  };
  const base: ContextBase = {
    fixture,
    kind,
    subject,
    sinceMs: labClock().now(),
    roles: new Map(),
    expected: new Map(),
    ownChanges: [],
    aliases: hostAliases.slice(0, hosts.length),
    hostOf,
    read,
    tell,
  };

  return {
    ...base,
    ...hostActions(base),
    ...virtualMachineActions(base),
    /** The calls that have begun so far. */
    steps,
    /**
     * Of the object, or of what it is going to be made from; of one that is gone, the news of a change
     * before comes late.
     */
    async changeSpec(alias: HostAlias): Promise<void> {
      if ((await read(alias)) !== null) return await change(alias, subject.change);
      const origin = subject.origin?.(hostOf(alias));
      if (origin === undefined) return await tell(alias, 'spec');
      await api.request(
        { method: 'PATCH', patchType: 'merge', path: origin, body: { metadata: { labels: { matrix: 'changed' } } } },
        patience(),
      );
    },
    /** A change of the object's spec, told as the bridge does. */
    change,
    run: (alias: HostAlias) => client.workflow.getHandle(subject.workflowId(hostOf(alias))),
    clear: (): Promise<void> =>
      isInVcenter(kind) ? virtualMachineActions(base).clearVms() : hostActions(base).clearHosts(),
  };
}
