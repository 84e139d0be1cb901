import { runSanity } from '../../lab/csi/sanity.ts';
import { canRunCeph, type CsiWorld, csiStartTimeoutMs, openCsiWorld } from './csi-world.ts';

/** Upstream's own suite of what a driver has to do, on both drivers of the lab. */

const testTimeoutMs = 15 * 60_000;
const allPassed = /^\d{2,} Passed \| 0 Failed/u;

let world: CsiWorld;
beforeAll(async () => void (world = await openCsiWorld({ withCeph: canRunCeph })), csiStartTimeoutMs);
afterAll(() => world?.close());

test.each([
  ['file systems', false],
  ['devices', true],
])(
  'the driver of directories: %s',
  async (_, block) => {
    const said = await runSanity(world.csi, { driver: world.driver('directories'), block });
    expect(said).toMatch(allPassed);
    await world.expectNothingLeft('directories');
  },
  testTimeoutMs,
);

(canRunCeph ? test : test.skip)(
  'Ceph: the driver of RBD',
  async () => {
    const said = await runSanity(world.csi, {
      driver: world.driver('rbd'),
      block: true,
      // A node would map the image, which takes the kernel of the machine.
      skip: 'Node Service.*(should work|should be idempotent|should remove target path)',
    });
    expect(said).toMatch(allPassed);
    await world.expectNothingLeft('rbd');
  },
  testTimeoutMs,
);
