import { withClock } from '../../lab/clock.ts';
import { drive } from '../fakes/drive.ts';
import { createFakeVcenter } from '../fakes/vsphere/vcenter.ts';
import { randomOf } from '../faults/random.ts';
import { createVirtualClock } from '../simulator/clock.ts';
import { createNetwork } from '../simulator/network.ts';
import type { VsphereCounterpart } from './vsphere-context.ts';

const startMs = Date.UTC(2026, 0, 1);

/** The simulator's vCenter on a virtual clock of its own. */
export function openFakeVsphere(): Promise<VsphereCounterpart> {
  const random = randomOf(1);
  const clock = createVirtualClock(startMs, random);
  const network = createNetwork({ clock, random });
  return Promise.resolve({
    ...createFakeVcenter({ clock, network, random }),
    clock,
    run: (work) => withClock(clock, () => drive(clock, work())),
    close: () => Promise.resolve(),
  });
}
