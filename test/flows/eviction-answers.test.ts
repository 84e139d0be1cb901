import type { ErrorCode } from '../../contracts/errors.ts';
import { labClock } from '../../lab/clock.ts';
import type { FaultProxy } from '../faults/proxy.ts';
import { openFaultProxy } from '../faults/proxy.ts';
import { checkInvariants } from '../invariants.ts';
import { expectCured, expectProblem } from './eviction-problems.ts';
import { writeOwnCloud } from './own-cloud.ts';
import type { World } from './world.ts';
import { limitMs } from './world-base.ts';
import { openWorld } from './world.ts';

/**
 * What the Eviction says while Nova answers nonsense, and that it goes on afterwards. What is retried is reported after
 * seven attempts, which take 45 s.
 */

let world: World;
let nova: FaultProxy;

beforeAll(async () => {
  world = await openWorld();
  nova = await openFaultProxy({ system: 'nova', target: world.lab.handles.openstack.computeUrl });
}, limitMs);
afterAll(async () => {
  await world.close();
  await nova.close();
}, limitMs);
afterEach(() => checkInvariants(world), limitMs);

test(
  'answers of Nova that are errors or nonsense, until they are cured',
  async () => {
    const broken: [host: string, code: ErrorCode, status: number, body: string][] = [
      ['node-1', 'NovaUnavailable', 503, '{"message": "down for a while"}'],
      ['node-2', 'AnswerMalformed', 200, '<html>Welcome to the load balancer</html>'],
      ['node-3', 'AnswerMalformed', 200, '{"servers": [{"id": 7}]}'],
      ['node-4', 'RequestRefused', 418, '{"teapot": {"message": "short and stout"}}'],
    ];
    for (const [host] of broken) {
      await world.freshHost(host);
      await world.seedMany(host, 1);
    }
    const fromMs = labClock().now();
    const through = (cloud: object): object => ({ ...cloud, compute_endpoint_override: nova.url });
    await world.replaceDrover({ env: writeOwnCloud(world.lab.handles.openstack, world.dir, through) });
    nova.inject(({ method, path }) => {
      const found =
        method === 'GET' && path.includes('/servers/detail')
          ? broken.find(([host]) => new URL(path, nova.url).searchParams.get('host') === host)
          : undefined;
      return found === undefined ? null : { do: 'answer', status: found[2], body: found[3] };
    });
    for (const [host] of broken) await world.createEviction(host);
    await Promise.all(broken.map(([host, code]) => expectProblem(world, host, code, fromMs)));
    nova.cure();
    await expectCured(world, ...broken.map(([host]) => host));
    await world.replaceDrover({});
  },
  limitMs,
);
