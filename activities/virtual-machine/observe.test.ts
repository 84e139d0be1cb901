import type { VcenterObservation } from '../../contracts/virtual-machine/activities.ts';
import type { DesiredVirtualMachine } from '../../contracts/virtual-machine/lifecycle.ts';
import { testScope } from '../../test/fixtures/activities/nova.ts';
import { desiredOf, guestOf, settings, vmOf } from '../../test/fixtures/workflows/virtual-machine.ts';
import { systemClock } from '../../runtime/clock.ts';
import { createVirtualMachineObserverActivities } from './observe.ts';
import type { PortTarget } from './probe-port.ts';

const tcp = (more: Partial<NonNullable<DesiredVirtualMachine['probePort']>> = {}): Partial<DesiredVirtualMachine> => ({
  probe: 'tcp',
  probePort: { host: null, port: 22, timeoutMs: 1_000, ...more },
});

async function observed(desired: Partial<DesiredVirtualMachine>, vm: VcenterObservation['vm']) {
  const asked: PortTarget[] = [];
  const activities = createVirtualMachineObserverActivities({
    readVirtualMachine: () =>
      Promise.resolve({
        kind: 'observed',
        desired: desiredOf(desired),
        observed: {
          recorded: {},
          objects: { class: null, resourcePolicy: null, storageClass: null, imageCache: null, group: null } as never,
        },
        settings,
        retry: null,
        digest: null,
      }),
    observeVirtualMachineInVcenter: () => Promise.resolve({ probe: null, vm } as VcenterObservation),
    probePort: (target) => {
      asked.push(target);
      return Promise.resolve({ passed: true, message: '' });
    },
    clock: systemClock,
    scope: () => testScope(),
  });
  const read = await activities.observeVirtualMachine({ namespace: 'team', name: 'web' });
  return { asked, probe: read.kind === 'observed' ? read.observed.vcenter?.probe : undefined };
}

test.each<[why: string, desired: Partial<DesiredVirtualMachine>, vm: VcenterObservation['vm'], host: string | null]>([
  ['the guest’s own address', tcp(), vmOf(), '192.0.2.10'],
  [
    'that of IPv6 where it has no other',
    tcp(),
    vmOf({ guest: guestOf({ primaryIp4: null, primaryIp6: '2001:db8::1' }) }),
    '2001:db8::1',
  ],
  ['the host that is named', tcp({ host: 'web.example.com' }), vmOf(), 'web.example.com'],
  ['none while it is off', tcp(), vmOf({ powerState: 'poweredOff' }), null],
  ['none while there is no VM', tcp(), null, null],
  ['none where no port is named', {}, vmOf(), null],
])('a port is probed at %s', async (_why, desired, vm, host) => {
  const { asked, probe } = await observed(desired, vm);
  expect(asked.map((target) => target.host)).toEqual(host === null ? [] : [host]);
  expect(probe).toEqual(host === null ? null : { passed: true, message: '' });
});

test.each<[why: string, desired: Partial<DesiredVirtualMachine>, vm: VcenterObservation['vm'], message: string]>([
  ['no address yet', tcp(), vmOf({ guest: guestOf({ primaryIp4: null }) }), 'no address yet'],
  ['a port with a name', tcp({ port: null }), vmOf(), 'no number'],
])('%s is not ready, and nothing is probed', async (_why, desired, vm, message) => {
  const { asked, probe } = await observed(desired, vm);
  expect(asked).toEqual([]);
  expect(probe).toEqual({ passed: false, message: expect.stringContaining(message) });
});
