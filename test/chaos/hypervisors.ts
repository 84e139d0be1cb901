import { kindTable } from '../../contracts/kinds/table.ts';
import { withKubernetes } from '../../lab/kubernetes-objects.ts';
import { findCondition } from '../../contracts/conditions.ts';
import type { Hypervisor } from '../../contracts/crds/hypervisor.ts';
import { hypervisorConditions } from '../../contracts/hypervisor/conditions.ts';
import { annotations, hypervisorId } from '../../contracts/ids.ts';
import { reportAgentStatus } from '../../lab/hypervisors.ts';
import type { MachineState } from '../../lab/redfish/machines.ts';
import { isFailure } from '../../runtime/kubernetes/kubernetes-faults.ts';
import { resourcePath } from '../../runtime/kubernetes/resource-path.ts';
import {
  applyNeighbour,
  applyNode,
  ensureAggregates,
  ensureRegistered,
  lifecycleOf,
  removeHypervisor,
  reportReady as reportBoot,
} from '../faults/hypervisor-objects.ts';
import { judgeService } from '../faults/judge-hypervisor.ts';
import { until } from '../flows/until.ts';
import type { World } from '../flows/world.ts';
import type { ChaosBmcs } from './bmcs.ts';
import { patiently } from './patiently.ts';
import { list, reasonOf } from './user-actions.ts';
import type { HypervisorAction } from './plan.ts';
import { hypervisorCount } from './plan.ts';

/**
 * The hosts whose lifecycle drover drives while everything breaks. Their guests come from those that are evicted, and
 * go where they go.
 */

/** Beside those that every lab has. The last is tested before it comes into service, the others are not. */
export const hypervisors: readonly string[] = Array.from({ length: hypervisorCount }, (_, index) => `kvm-${index + 1}`);

const patienceMs = 120_000;
/** How long the operator waits for the request to stop nova-compute. */
const leaveMs = 30_000;
/** Longer than any back-off that a run may be in. */
const serviceMs = 210_000;
const patience = (): AbortSignal => AbortSignal.timeout(5_000);
const path = (name: string): string => resourcePath('kvm.cloud.sap/v1', 'hypervisors', { name });
const isThere = (message: string): boolean => /already ?exists/iu.test(message);

/** So that what is evicted goes to them first, and has to leave them again. */
const roomy = { vcpus: 200, memoryMiB: 1_048_576 };

/** On none of them anything listens. */
const address = '127.0.0.1';

/**
 * Hosts that Nova knows and that are not driven; all others are left to users. Those have Nodes that are well: where
 * half of all that drover knows have failed, it fences none.
 */
export async function prepareHypervisors(world: World, others: readonly string[]): Promise<void> {
  await ensureAggregates(world, false);
  for (const host of hypervisors) {
    await world.freshHost(host, { seconds: 1, ...roomy });
    await removeHypervisor(world, host);
  }
  for (const name of others) {
    await change(world, name, { spec: { lifecycleEnabled: false } });
    await applyNeighbour(world, name);
    await reportBoot(world, name, address);
  }
}

/** Leaves the lab as others expect it. No drover may be at work. */
export async function removeHypervisors(world: World): Promise<void> {
  for (const host of hypervisors) await removeHypervisor(world, host);
}

/** Does what an operator or Gardener would; returns what was done. */
export async function performHypervisorAction(
  world: World,
  bmcs: ChaosBmcs,
  { hypervisor, what }: HypervisorAction,
): Promise<string> {
  const host = hypervisors[hypervisor] ?? '';
  switch (what) {
    case 'onboard':
      await patiently(() => applyNode(world, host, host === hypervisors.at(-1)), isThere);
      await patiently(() => reportBoot(world, host, address, { bootId: bootIdOf([]) }));
      void until(
        `${host} to have a node agent`,
        patienceMs,
        async () => (await withKubernetes(world.lab.handles.kubernetes, (api) => reportAgentStatus(api, host)), true),
      ).catch(() => undefined);
      break;
    case 'maintain':
      await patiently(() => change(world, host, { spec: { maintenance: 'manual', maintenanceReason: 'chaos' } }));
      break;
    case 'activate':
      await activate(world, host);
      break;
    case 'decommission':
      await patiently(() => change(world, host, { spec: { maintenance: 'termination', maintenanceReason: 'chaos' } }));
      return `decommission ${host}${(await crashWhenRequested(world, host)) ? ', nova-compute stopped when drover asked for it' : ''}`;
    case 'restore':
      await restore(world, host);
      break;
    case 'fail':
      await patiently(() => reportReady(world, host, 'False'));
      break;
    case 'recover':
      await patiently(() => reportReady(world, host, 'True'));
      // drover may have had its servers moved live meanwhile, and leaves it to a user then.
      if ((await patiently(() => read(world, host)))?.spec?.maintenance === 'ha') await activate(world, host);
      break;
    case 'cutPower':
      await patiently(() => bmcs.setPower(host, 'Off'));
      await fallSilent(world, host);
      break;
    case 'freeze':
      await fallSilent(world, host);
      break;
    case 'mend': {
      const { status } = (await patiently(() => read(world, host))) ?? {};
      const said = findCondition(status?.conditions, hypervisorConditions.nodeFailure);
      return `mend ${host}, as ${await mend(world, bmcs, host)}; it said ${said?.reason ?? 'nothing'}: ${said?.message ?? ''}`;
    }
    case 'terminate':
      // There may be none, or Temporal is away: that is not an error.
      return await world.client.workflow
        .getHandle(hypervisorId(host))
        .terminate('chaos')
        .then(
          () => `terminate ${hypervisorId(host)}`,
          (error: unknown) => `terminate ${hypervisorId(host)}: ${(error as Error).message}`,
        );
  }
  return `${what} ${host}`;
}

/** As its kubelet does; where that has failed, Kubernetes does it instead. */
const reportReady = (world: World, name: string, ready: 'True' | 'False' | 'Unknown'): Promise<unknown> =>
  world.api.request(
    {
      method: 'PATCH',
      patchType: 'merge',
      path: resourcePath('v1', 'nodes', { name, subresource: 'status' }),
      body: {
        status: {
          conditions: [
            {
              type: 'Ready',
              status: ready,
              reason: 'Chaos',
              message: 'chaos',
              lastTransitionTime: new Date().toISOString(),
            },
          ],
        },
      },
    },
    patience(),
  );

/** Nothing on it reports any more. */
async function fallSilent(world: World, host: string): Promise<void> {
  if ((await world.fleet.hosts())[host]?.running === true) await world.fleet.crash(host);
  await patiently(() => reportReady(world, host, 'Unknown'));
}

/**
 * The machine and all that runs on it works, whatever was wrong with it. Returns its boot id: another one if it was
 * without power.
 */
async function mend(world: World, bmcs: ChaosBmcs, host: string): Promise<string> {
  const { power, powered } = await patiently(() => bmcs.read(host));
  if (power === 'Off') await patiently(() => bmcs.setPower(host, 'On'));
  await ensureRegistered(world, host);
  const bootId = bootIdOf(powered);
  await patiently(() => reportBoot(world, host, address, { bootId }));
  return bootId;
}

const bootIdOf = (powered: MachineState['powered']): string =>
  `boot-${1 + powered.filter(({ power }) => power === 'Off').length}`;

async function activate(world: World, host: string): Promise<void> {
  // From when it is asked: servers may be sent there as soon as Nova knows.
  world.ownChanges.push({ host, atMs: Date.now(), enabled: true, reason: null });
  await patiently(() => change(world, host, { spec: { maintenance: '' } }));
}

/**
 * The service of a nova-compute that answers is not removed: the operator stops it. Returns whether drover has
 * requested that in time.
 */
async function crashWhenRequested(world: World, host: string): Promise<boolean> {
  const isRequested = until(`${host} to be emptied`, leaveMs, async () => {
    const { message } = lifecycleOf(await patiently(() => read(world, host)));
    return message.includes('nova-compute on the host still answers') || message;
  });
  if (
    !(await isRequested.then(
      () => true,
      () => false,
    ))
  )
    return false;
  await world.fleet.crash(host);
  return true;
}

/** The only way out of `termination` that the CRD's rule allows leads through `ha`. */
async function restore(world: World, host: string): Promise<void> {
  if ((await patiently(() => read(world, host)))?.spec?.maintenance === 'termination')
    await patiently(() => change(world, host, { spec: { maintenance: 'ha' } }));
  await activate(world, host);
  await ensureRegistered(world, host);
}

/**
 * At the end each is put into service, and retried where it says that a user has to. Returns what is not as it should
 * be then: every one is Active for the spec that it has, enabled in Nova, in its aggregates, and no Eviction of
 * it is left.
 */
export async function restoreHypervisors(world: World, bmcs: ChaosBmcs): Promise<string[]> {
  const found = await Promise.all(
    hypervisors.map(async (host) => {
      await mend(world, bmcs, host);
      await restore(world, host);
      const handBack = once(() => activate(world, host));
      const arrived = await until(`${host} to be in service`, serviceMs, () =>
        observeService(world, host, handBack),
      ).then(
        () => [],
        (error: unknown) => [(error as Error).message],
      );
      return [...arrived, ...(await judgeService(world, host))];
    }),
  );
  return found.flat();
}

const once = (act: () => Promise<unknown>): (() => Promise<unknown>) => {
  let acting: Promise<unknown> | null = null;
  return () => (acting ??= act());
};

/**
 * True: it is in service.
 *
 * @param handBack what a user does about a host that drover took into maintenance `ha` just as it was mended: drover
 * leaves it to users when it is taken out again
 */
async function observeService(world: World, host: string, handBack: () => Promise<unknown>): Promise<true | string> {
  const hypervisor = await read(world, host);
  if (hypervisor === null) return 'it has no Hypervisor';
  if (hypervisor.spec?.maintenance === 'ha') await handBack();
  // A service that was about to be removed when its host was wanted again.
  await ensureRegistered(world, host);
  const { reason, status, message, lastTransitionTime } = lifecycleOf(hypervisor);
  const isReconciled = kindTable.Hypervisor.isReconciled(hypervisor, 'act');
  // Once for each time that it became reconciled.
  if (isReconciled && status === 'False')
    await change(world, host, { metadata: { annotations: { [annotations.retry]: lastTransitionTime } } });
  const left = (await list(world)).filter(({ spec }) => spec.hypervisor === host);
  if (left.length > 0) return `its Eviction is ${left.map(reasonOf).join(', ')}; it is ${reason} ${status}: ${message}`;
  if (!isReconciled || reason !== 'Active' || status !== 'True') return `${reason} ${status}: ${message}`;
  const failure = findCondition(hypervisor.status?.conditions, hypervisorConditions.nodeFailure);
  return (
    failure === undefined ||
    failure.status === 'False' ||
    `it has failed, it says: ${failure.reason}: ${failure.message}`
  );
}

async function read({ api }: World, name: string): Promise<Hypervisor | null> {
  try {
    return (await api.request({ method: 'GET', path: path(name) }, patience())) as Hypervisor;
  } catch (error) {
    if (isFailure(error, 'ObjectNotFound')) return null;
    throw error;
  }
}

const change = ({ api }: World, name: string, body: object): Promise<unknown> =>
  api.request({ method: 'PATCH', patchType: 'merge', path: path(name), body }, patience());
