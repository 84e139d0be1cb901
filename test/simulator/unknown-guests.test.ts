import { createInstances } from '../../lab/openstack/seed.ts';
import type { FakeHost } from '../fakes/hosts/hosts.ts';
import { quickSettings } from '../flows/world-base.ts';
import { host, openEvictionStory } from './eviction-story.ts';

const tls = { caFile: 'ca.pem', certFile: 'client.pem', keyFile: 'client.key' };
const libvirt = { connectUri: 'qemu+tls://{host}/system', tls, minimumVersion: '8.0.0' };
const stray = 'instance-0000002a';
/** Virtual time costs real time on a busy machine. */
const patienceMs = 180_000;

interface World {
  machine: FakeHost;
  sleep: (ms: number) => Promise<void>;
  /** What the Eviction says of itself. */
  said: () => Promise<string>;
}

/** An eviction of a host on which libvirt runs a guest that Nova does not have there. */
async function evict(during: (world: World) => Promise<void>): Promise<void> {
  const story = await openEvictionStory({ settings: { ...quickSettings, hypervisor: { libvirt } } });
  const { simulation, openstack, hosts } = story;
  const machine = hosts.add({ name: host });
  machine.libvirt.guests.start({ name: stray });
  const said = async (): Promise<string> => {
    const found = await story.conditionOf('Evicting');
    return `${found?.status} ${found?.reason}: ${found?.message}`;
  };
  await story.run(async () => {
    await createInstances(openstack.admin, [{ name: 'guest', host }]);
    await story.evict();
    await during({ machine, said, sleep: (ms) => simulation.clock.sleep(ms) });
  }, 300_000);
}

test(
  'a host on which libvirt runs a guest that Nova does not have there is not empty, until it is ended',
  async () => {
    await evict(async ({ machine, said, sleep }) => {
      await sleep(15_000);
      expect(await said()).toMatch(
        /^True Running: 1 of 1 servers have left node-1\. Waiting for what is left on the host: 1 guest that libvirt runs and Nova does not have there \(instance-0000002a, /u,
      );
      machine.libvirt.guests.stop(stray, 'destroyed');
      await sleep(15_000);
      expect(await said()).toMatch(/^False Succeeded: 1 of 1/u);
    });
  },
  patienceMs,
);

test(
  'where no user ends it, the eviction does not succeed, and names it',
  async () => {
    await evict(async ({ said, sleep }) => {
      await sleep(120_000);
      expect(await said()).toMatch(/^False NotEmpty: .*1 guest that libvirt runs .*instance-0000002a/u);
    });
  },
  patienceMs,
);

test(
  'a libvirt that does not answer is no witness',
  async () => {
    await evict(async ({ machine, said, sleep }) => {
      machine.libvirt.service.kill();
      await sleep(120_000);
      expect(await said()).toMatch(/^False Succeeded: 1 of 1/u);
    });
  },
  patienceMs,
);
