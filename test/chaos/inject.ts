import { setTimeout as delay } from 'node:timers/promises';
import { csiControl, type CsiMethod, type CsiFault as CsiAnswer } from '../../lab/csi/control.ts';
import { killCsi, restartCsi } from '../../lab/csi/faults.ts';
import type { CsiHandle } from '../../lab/csi/handle.ts';
import { killKubeApiserver, restartKubeApiserver } from '../../lab/parts/kubernetes-faults.ts';
import { killTemporal, restartTemporal } from '../../lab/parts/temporal-faults.ts';
import { deadServices, signalService } from '../../lab/processes.ts';
import type { FaultProxy } from '../faults/proxy.ts';
import type { World } from '../flows/world.ts';
import type { ChaosBmcs } from './bmcs.ts';
import type { ChaosVcenter } from './chaos-vcenter.ts';
import { patiently } from './patiently.ts';
import type { BmcFault, CsiFault, Fault, VcenterFault } from './plan.ts';

/** How often a request to Nova meets a fault that does not meet all: every third. */
const oneIn = 3;

/** How drover reaches what is outside of the lab's Temporal and Kubernetes. */
export interface Ways {
  nova: FaultProxy;
  vcenter: Pick<ChaosVcenter, 'handle' | 'control'>;
  /** Null: no hypervisors are driven. */
  bmcs: ChaosBmcs | null;
  /** Null: nothing is stored. */
  csi: CsiHandle | null;
}

/** Injects the fault, and removes it when its time is over. */
export async function inject(world: World, { nova, vcenter, bmcs, csi }: Ways, one: Fault): Promise<void> {
  if (one.target === 'vcenter') return await injectIntoVcenter(vcenter, one);
  if (one.target === 'bmc') return bmcs === null ? undefined : await injectIntoBmcs(bmcs, one.how, one.forMs);
  if (one.target === 'csi') return csi === null ? undefined : await injectIntoCsi(csi, one);
  const { target, how, forMs } = one;
  const { temporal, kubernetes } = world.lab.handles;
  const place = {
    bridge: [world.dir, 'bridge'],
    worker: [world.dir, 'worker'],
    temporal: [temporal.dir, 'temporal'],
    'kube-apiserver': [kubernetes.dir, 'kube-apiserver'],
  } as const;
  if (how === 'freeze') {
    const [dir, name] = place[target];
    signalService(dir, name, 'SIGSTOP');
    await delay(forMs);
    return signalService(dir, name, 'SIGCONT');
  }
  if (how === 'kill') {
    await kill(world, target);
    await delay(forMs);
    return await restart(world, target);
  }
  injectIntoNova(nova, how);
  await delay(forMs);
  nova.cure();
}

/** More calls than it gets until it is healed. */
const always = 100_000;
/** Of tasks of a vCenter that is slow. */
const slowMs = 3_000;

async function injectIntoVcenter(
  { handle, control }: Ways['vcenter'],
  { how, forMs }: Extract<Fault, { target: 'vcenter' }>,
): Promise<void> {
  const faults: Record<VcenterFault, () => void | Promise<void>> = {
    freeze: () => signalService(handle.dir, 'vcsim', 'SIGSTOP'),
    failing: () => control.inject({ does: 'status', status: 503, count: always }),
    deaf: () => control.inject({ does: 'cut', after: true, count: always }),
    slow: () => control.delayTasks({ CreateVm: slowMs, CloneVm: slowMs, PowerOn: slowMs, Destroy: slowMs }),
  };
  await faults[how]();
  await delay(forMs);
  if (how === 'freeze') signalService(handle.dir, 'vcsim', 'SIGCONT');
  else await control.reset();
}

async function injectIntoBmcs(bmcs: ChaosBmcs, how: BmcFault, forMs: number): Promise<void> {
  if (how === 'freeze') {
    signalService(bmcs.handle.dir, 'redfish', 'SIGSTOP');
    await delay(forMs);
    return signalService(bmcs.handle.dir, 'redfish', 'SIGCONT');
  }
  await bmcs.behave(how);
  await delay(forMs);
  await bmcs.behave('obeys');
}

/** Of a driver that is slow. */
const slowCallMs = 4_000;
const csiMethods: readonly CsiMethod[] = [
  'CreateVolume',
  'DeleteVolume',
  'CreateSnapshot',
  'DeleteSnapshot',
  'ControllerExpandVolume',
];
const csiAnswers: Record<Exclude<CsiFault, 'kill' | 'controller'>, Omit<CsiAnswer, 'method'>> = {
  failing: { code: 'Internal', message: 'chaos' },
  busy: { code: 'Aborted', message: 'an operation is under way' },
  deaf: { code: 'Unavailable', after: true },
  slow: { delayMs: slowCallMs },
};

async function injectIntoCsi(csi: CsiHandle, { how, forMs }: Extract<Fault, { target: 'csi' }>): Promise<void> {
  if (how === 'kill' || how === 'controller') {
    await killCsi(csi, how === 'kill' ? 'directories' : 'snapshot-controller');
    await delay(forMs);
    return await reviveCsi(csi);
  }
  const control = csiControl(csi);
  for (const method of csiMethods) await control.inject({ method, count: always, ...csiAnswers[how] });
  await delay(forMs);
  await control.clearFaults();
}

/** What starts while kube-apiserver is away ends, and is started again. */
const reviveCsi = (csi: CsiHandle): Promise<void> => patiently(() => restartCsi(csi));

type Mortal = 'bridge' | 'worker' | 'temporal' | 'kube-apiserver';

async function kill({ drover, lab }: World, target: Mortal): Promise<void> {
  if (target === 'temporal') return await killTemporal(lab.handles.temporal);
  if (target === 'kube-apiserver') return await killKubeApiserver(lab.handles.kubernetes);
  await drover.kill(target);
}

/**
 * A process that needs the other one that is down waits for it, or is started again. A machine that is busy may be so
 * slow that a server does not serve in its time: that is no fault of drover's.
 */
async function restart({ drover, lab }: World, target: Mortal): Promise<void> {
  const { temporal, kubernetes } = lab.handles;
  if (target === 'temporal') return void (await patiently(() => restartTemporal(temporal)));
  if (target === 'kube-apiserver') return void (await patiently(() => restartKubeApiserver(kubernetes)));
  await drover.restart(target);
}

/**
 * As a supervisor does, of a process that ended by itself: it was starting when what it needs went away. No fault may
 * be under way.
 */
export async function reviveDead(world: World, csi: CsiHandle | null): Promise<void> {
  const { temporal, kubernetes } = world.lab.handles;
  const dead = [temporal.dir, kubernetes.dir, world.dir].flatMap(deadServices);
  // What the others need comes first.
  for (const target of ['temporal', 'kube-apiserver', 'worker', 'bridge'] as const)
    if (dead.includes(target)) await restart(world, target);
  if (csi !== null) await reviveCsi(csi);
}

function injectIntoNova(nova: FaultProxy, how: 'apart' | 'failing' | 'deaf'): void {
  if (how === 'apart') return nova.partition();
  let count = 0;
  nova.inject(() => {
    count += 1;
    if (count % oneIn !== 0) return null;
    return how === 'failing' ? { do: 'answer', status: 503, body: '{"message": "chaos"}' } : { do: 'cut' };
  });
}
