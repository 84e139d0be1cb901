import { listenToGuests } from './node-failure/guests.ts';
import { openFailureWorld, type FailureWorld } from './node-failure/world.ts';
import { until } from './until.ts';

/** Drover's own listening to a libvirt, over its wire, and the run that it starts. */

const patienceMs = 30_000;
/** Three waits, each of twice {@link patienceMs} where the machine is busy, and the runs between them. */
const testMs = 240_000;
let world: FailureWorld;

beforeAll(async () => {
  world = await openFailureWorld();
}, 180_000);
afterAll(() => world?.close(), 60_000);

test(
  'from libvirt to the run: guests that crash start the run of their host, which is handed over; to end the watch stops no guest',
  async () => {
    const { machine, watch, events, crash, stop } = await listenToGuests(world, 'crashed');
    try {
      crash(['vm-1', 'vm-2']);
      await until(
        'the host to be handed over',
        patienceMs,
        () => machine.actions.includes('maintenance ha') || JSON.stringify(machine.actions),
      );
      expect(await world.failureOf('crashed').result()).toMatchObject({ reason: 'HandedOver' });
      expect(events).toEqual(['GuestStopped: vm-1 has lost its QEMU', 'GuestStopped: vm-2 has lost its QEMU']);
    } finally {
      await stop();
      await expect(watch.result()).rejects.toMatchObject({ cause: { name: 'CancelledFailure' } });
    }
  },
  testMs,
);
