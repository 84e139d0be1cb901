import { setTimeout as delay } from 'node:timers/promises';
import { killKubeApiserver, restartKubeApiserver } from '../../lab/parts/kubernetes-faults.ts';
import { killTemporal, restartTemporal } from '../../lab/parts/temporal-faults.ts';
import { deadServices, signalService } from '../../lab/processes.ts';
import type { FaultProxy } from '../faults/proxy.ts';
import type { World } from '../flows/world.ts';
import type { ChaosVcenter } from './chaos-vcenter.ts';
import type { Fault, VcenterFault } from './plan.ts';

/** How often a request to Nova meets a fault that does not meet all: every third. */
const oneIn = 3;

/** How drover reaches what is outside of the lab's Temporal and Kubernetes. */
export interface Ways {
  nova: FaultProxy;
  vcenter: Pick<ChaosVcenter, 'handle' | 'control'>;
}

/** Injects the fault, and removes it when its time is over. */
export async function inject(world: World, { nova, vcenter }: Ways, one: Fault): Promise<void> {
  if (one.target === 'vcenter') return await injectIntoVcenter(vcenter, one);
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

type Mortal = 'bridge' | 'worker' | 'temporal' | 'kube-apiserver';

async function kill({ drover, lab }: World, target: Mortal): Promise<void> {
  if (target === 'temporal') return await killTemporal(lab.handles.temporal);
  if (target === 'kube-apiserver') return await killKubeApiserver(lab.handles.kubernetes);
  await drover.kill(target);
}

/** A process that needs the other one that is down waits for it, or is started again. */
async function restart({ drover, lab }: World, target: Mortal): Promise<void> {
  if (target === 'temporal') return void (await restartTemporal(lab.handles.temporal));
  if (target === 'kube-apiserver') return void (await restartKubeApiserver(lab.handles.kubernetes));
  await drover.restart(target);
}

/** As whoever runs drover does, of a process that ended by itself: it was starting when what it needs went away. No fault may be under way. */
export async function reviveDead({ drover, dir }: World): Promise<void> {
  const dead = deadServices(dir);
  for (const target of ['worker', 'bridge'] as const) if (dead.includes(target)) await drover.restart(target);
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
