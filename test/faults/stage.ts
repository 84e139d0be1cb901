import { isFailure } from '../../runtime/kubernetes-faults.ts';
import type { Lane } from './lane.ts';
import { setHostStage } from './host-stage.ts';
import type { HostAlias, Scene } from './scene.ts';
import { hostAliases } from './scene.ts';
import type { AnyObject, Subject, SubjectKind } from './subjects.ts';
import { isInVcenter, subjects } from './subjects.ts';
import { setVmStage } from './virtual-machine-stage.ts';

/** What a scenario does to its hosts or VMs. */
export type Stage = ReturnType<typeof openStage>;

/** The lane's hosts, empty and enabled, or its namespace without VMs, for one run of a scenario. */
export function openStage(lane: Lane, kind: SubjectKind, steps: () => readonly string[]) {
  const subject: Subject = subjects[kind];
  const { client, hosts } = lane;
  const { api } = lane.ground;
  const hostOf = (alias: HostAlias): string => hosts[hostAliases.indexOf(alias)] ?? raise(`lane ${lane.name} has no host ${alias}`);
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
    await api.request({ method: 'PATCH', patchType: 'merge', path: subject.path(hostOf(alias)), body: { spec } }, patience());
    await tell(alias, 'spec');
  };
  const scene: Scene = { lane, kind, subject, sinceMs: Date.now(), roles: new Map(), expected: new Map(), ownChanges: [], aliases: hostAliases.slice(0, hosts.length), hostOf, read, tell };

  return {
    ...scene,
    ...setHostStage(scene),
    ...setVmStage(scene),
    /** The calls that have begun so far. */
    steps,
    /** Of the object, or of what it is going to be made from; of one that is gone, the news of a change before comes late. */
    async changeSpec(alias: HostAlias): Promise<void> {
      if ((await read(alias)) !== null) return await change(alias, subject.change);
      const origin = subject.origin?.(hostOf(alias));
      if (origin === undefined) return await tell(alias, 'spec');
      await api.request({ method: 'PATCH', patchType: 'merge', path: origin, body: { metadata: { labels: { matrix: 'changed' } } } }, patience());
    },
    /** A change of the object's spec, told as the bridge does. */
    change,
    run: (alias: HostAlias) => client.workflow.getHandle(subject.workflowId(hostOf(alias))),
    clear: (): Promise<void> => (isInVcenter(kind) ? setVmStage(scene).clearVms() : setHostStage(scene).clearHosts()),
  };
}

const raise = (message: string): never => {
  throw new Error(message);
};
