import { kindTable } from '../../contracts/kinds/table.ts';
import { setTimeout as delay } from 'node:timers/promises';
import { findCondition } from '../../contracts/conditions.ts';
import type { Eviction } from '../../contracts/crds/eviction.ts';
import { annotations, evictionId } from '../../contracts/ids.ts';
import { asSignal, messages } from '../../contracts/messages.ts';
import { resourcePath } from '../../runtime/kubernetes/resource-path.ts';
import type { World } from '../flows/world.ts';
import { patiently } from './patiently.ts';
import type { UserAction } from './plan.ts';

const requestMs = 5_000;

/**
 * Does what a user would, who retries while a system is away. Returns what was done, or why there was
 * nothing to do.
 *
 * @param hosts that may be emptied
 * @param keep how many of them stay in service, so that there is somewhere to go
 */
export async function performUserAction(
  world: World,
  { what, lot }: UserAction,
  hosts: readonly string[],
  keep: number,
): Promise<string> {
  const all = (await list(world)).filter(({ spec }) => hosts.includes(spec.hypervisor));
  const open = all.filter((eviction) => !kindTable.Eviction.isReconciled(eviction, 'act'));
  const chosen = <Item>(items: readonly Item[]): Item | undefined => items[Math.floor(lot * items.length)];
  switch (what) {
    case 'evict': {
      const free = hosts.filter((host) => !all.some(({ spec }) => spec.hypervisor === host));
      const host = free.length > keep ? chosen(free) : undefined;
      if (host === undefined) return 'no host is free';
      await create(world, host);
      return `evict ${host}`;
    }
    case 'delete': {
      const eviction = chosen(all);
      if (eviction === undefined) return 'nothing to delete';
      await patiently(() =>
        world.api.request({ method: 'DELETE', path: path(eviction) }, AbortSignal.timeout(requestMs)),
      );
      return `delete ${eviction.metadata.name} (${reasonOf(eviction)})`;
    }
    case 'retry': {
      const eviction = chosen(
        all.filter((one) => kindTable.Eviction.isReconciled(one, 'act') && reasonOf(one) !== 'Succeeded'),
      );
      if (eviction === undefined) return 'nothing to retry';
      await patiently(() => world.annotate(eviction.metadata.name, { [annotations.retry]: String(Date.now()) }));
      return `retry ${eviction.metadata.name} (${reasonOf(eviction)})`;
    }
    case 'cancel':
    case 'terminate':
    case 'pause': {
      const eviction = chosen(open);
      if (eviction === undefined) return `nothing to ${what}`;
      const run = world.client.workflow.getHandle(evictionId(eviction.spec.hypervisor));
      const by = { by: 'chaos' };
      // The run may be gone, or Temporal away: that is not an error.
      const done = await (
        what === 'cancel'
          ? run.cancel()
          : what === 'terminate'
            ? run.terminate('chaos')
            : run.signal(asSignal(messages.pause), by)
      ).then(
        () => '',
        (error: unknown) => `: ${(error as Error).message}`,
      );
      if (what === 'pause') void resumeLater(world, eviction.spec.hypervisor);
      return `${what} ${eviction.metadata.name}${done}`;
    }
  }
}

/** A user who pauses a run resumes it. */
async function resumeLater(world: World, host: string): Promise<void> {
  await delay(3_000);
  await patiently(async () => {
    const run = world.client.workflow.getHandle(evictionId(host));
    if ((await run.describe()).status.name === 'RUNNING') await run.signal(asSignal(messages.resume), { by: 'chaos' });
  }).catch(() => undefined);
}

/** Empty hosts go back into service: its Eviction is deleted, its compute service enabled. */
export async function returnToService(world: World, hosts: readonly string[]): Promise<void> {
  for (const eviction of await list(world)) {
    if (!hosts.includes(eviction.spec.hypervisor)) continue;
    if (!kindTable.Eviction.isReconciled(eviction, 'act') || eviction.metadata.deletionTimestamp !== undefined)
      continue;
    const { hypervisor } = eviction.spec;
    await patiently(() =>
      world.api.request({ method: 'DELETE', path: path(eviction) }, AbortSignal.timeout(requestMs)),
    );
    await patiently(async () => {
      if ((await world.service(hypervisor)).status === 'disabled') await world.enableService(hypervisor);
    });
  }
}

export async function list({ api }: World): Promise<Eviction[]> {
  const { items } = await patiently(
    async () =>
      (await api.request(
        { method: 'GET', path: resourcePath('kvm.cloud.sap/v1', 'evictions') },
        AbortSignal.timeout(requestMs),
      )) as { items: Eviction[] },
  );
  return items;
}

const path = ({ metadata }: Eviction): string => resourcePath('kvm.cloud.sap/v1', 'evictions', { name: metadata.name });

export const reasonOf = ({ status }: Eviction): string =>
  findCondition(status?.conditions, 'Evicting')?.reason ?? 'new';

const create = ({ api }: World, host: string): Promise<unknown> => {
  const body = {
    apiVersion: 'kvm.cloud.sap/v1',
    kind: 'Eviction',
    metadata: { name: host, annotations: { [annotations.parallelism]: '2' } },
    spec: { hypervisor: host, reason: 'chaos' },
  };
  return patiently(
    () =>
      api.request(
        { method: 'POST', path: resourcePath('kvm.cloud.sap/v1', 'evictions'), body },
        AbortSignal.timeout(requestMs),
      ),
    (message) => message.includes('AlreadyExists') || message.includes('already exists'),
  );
};
