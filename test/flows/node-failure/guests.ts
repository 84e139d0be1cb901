import { openHostPorts } from '../../../activities/hypervisor/host-ports.ts';
import type { EventClient } from '../../../activities/kubernetes/lib/write-event.ts';
import type { GuestWatchRound } from '../../../contracts/node-failure/guest-watch.ts';
import { systemClock } from '../../../runtime/clock.ts';
import { hypervisorConfig } from '../../../runtime/config/hypervisor-config.ts';
import { nodeFailureConfig } from '../../../runtime/config/node-failure-config.ts';
import { sampleHypervisor } from '../../fixtures/activities/hypervisor.ts';
import { lifecycleEvent, startScriptedLibvirtd } from '../../scripted-libvirtd.ts';
import { until } from '../until.ts';
import type { FailureWorld, Machine } from './world.ts';

/** A host that lives and reports. */
export const alive = { ready: 'True', compute: 'up', power: 'On', libvirt: 'healthy' } as const;

/** A round in which nothing happened. */
export const quietRound: GuestWatchRound = { wanted: true, hosts: 3, connected: 2, left: 1, signalled: 0, withheld: 0 };

const patienceMs = 30_000;
/** A guest's QEMU ended by itself. */
const [stopped, failed] = [5, 5];

/** A host with a scripted libvirt that reports its guests, and drover's own watch of it. */
export async function listenToGuests(world: FailureWorld, host: string, change: Partial<Machine> = {}) {
  const daemon = await startScriptedLibvirtd(({ name }) =>
    name === 'connectListAllDomains' ? { result: { domains: [], count: 0 } } : undefined,
  );
  const machine = world.place(host, { ...alive, ...change });
  const conditions = [
    { type: 'HaEnabled', status: 'True', reason: 'Succeeded', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' },
  ];
  const object = sampleHypervisor();
  const events: string[] = [];
  const watch = await world.listenTo({
    listHypervisors: () =>
      Promise.resolve([
        {
          ...object,
          metadata: { ...object.metadata, name: host },
          status: { internalIp: '127.0.0.1', conditions },
        } as typeof object,
      ]),
    nova: { server: () => Promise.resolve(null) },
    events: {
      create: async (_: unknown, { reason, note }: { reason: string; note: string }) =>
        events.push(`${reason}: ${note}`),
    } as unknown as EventClient,
    settings: nodeFailureConfig.parse({ guestEvents: { observeMs: 100 } }).guestEvents,
    libvirt: hypervisorConfig.parse({ libvirt: { connectUri: `qemu+tcp://{host}:${daemon.port}/system` } }).libvirt,
    clock: systemClock,
    random: Math.random,
    ports: openHostPorts({ clock: systemClock }),
  });
  await until(
    'the connection',
    patienceMs,
    () => daemon.received.some(({ name }) => name === 'connectListAllDomains') || 'not yet',
  );
  return {
    machine,
    watch,
    /** What is reported of its guests. */
    events,
    crash: (guests: readonly string[]): void =>
      guests.forEach((name, index) =>
        daemon.say(lifecycleEvent({ uuid: `8a3b1c5e-0000-4000-8000-00000000000${index + 1}`, name }, stopped, failed)),
      ),
    /** Ends the watch, and unsubscribes from libvirt. */
    stop: async (): Promise<void> => {
      await watch.cancel();
      // Its end is the cancel, whatever it is called.
      await watch.result().catch(() => undefined);
      world.unlisten();
      await until(
        'the good-bye',
        patienceMs,
        () => daemon.received.some(({ name }) => name === 'connectClose') || 'not yet',
      );
      await daemon.close();
    },
  };
}
