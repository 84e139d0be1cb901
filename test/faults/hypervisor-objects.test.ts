import { withClock } from '../../lab/clock.ts';
import type { Fleet } from '../../lab/openstack/fleet.ts';
import type { Session } from '../../lab/openstack/session.ts';
import { createVirtualClock } from '../simulator/clock.ts';
import { ensureRegistered } from './hypervisor-objects.ts';

test('a nova-compute whose service is let go while it starts is installed anew', async () => {
  const clock = createVirtualClock(0, Math.random);
  const done: string[] = [];
  let services = [{ host: 'kvm-1' }];
  let running = false;
  const session = { compute: async () => ({ services }) } as unknown as Session;
  const fleet = {
    hosts: async () => ({ 'kvm-1': { running } }),
    async start() {
      done.push('start');
      services = [];
      throw new Error('POST /fleet/kvm-1/start: Service 11 could not be found.');
    },
    async reinstall() {
      done.push('reinstall');
      services = [{ host: 'kvm-1' }];
      running = true;
    },
  } as unknown as Fleet;
  const registered = withClock(clock, () => ensureRegistered({ session, fleet }, 'kvm-1'));
  for (let step = 0; step < 20; step += 1) {
    await new Promise(setImmediate);
    await clock.step(Infinity);
  }
  await registered;
  expect(done).toEqual(['start', 'reinstall']);
});
