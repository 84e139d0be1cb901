import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { randomnessSeedOf, sdkVersion } from './sdk.ts';

const require = createRequire(import.meta.url);

const advice = `The simulator drives the inside of Temporal's SDK, which no version promises to keep. Before sdkVersion in test/simulator/temporal/sdk.ts
names another one, compare with the sources of the new version what the simulator does by hand:
- packages/worker/src/workflow/{vm-shared,reusable-vm,interface}.ts and worker.ts (createWorkflow): how a sandbox is made and activated;
- packages/worker/src/activity.ts and worker.ts (extractActivityInfo): how an attempt runs, and what its Info says;
- packages/client/src/{workflow-client,schedule-client,types}.ts: which calls of the API the client makes of a connection;
- packages/core-bridge/sdk-core/crates/sdk-core/src/worker/workflow/{mod.rs,machines}: order of jobs, what Core answers by itself (core.ts), flags;
- …/src/worker/activities{.rs,/activity_heartbeat_manager.rs}: throttling of heartbeats, local time-outs (activity-worker.ts).
Then run test/simulator, and test/flows/simulator-conformance.test.ts on a lab with that version's dev server.`;

test.each(['worker', 'workflow', 'activity', 'client', 'common', 'proto', 'core-bridge'])(
  '@temporalio/%s is the version that the simulator is written for',
  (name) => {
    const { version } = JSON.parse(readFileSync(require.resolve(`@temporalio/${name}/package.json`), 'utf8')) as {
      version: string;
    };
    if (version !== sdkVersion) throw new Error(`@temporalio/${name} is ${version}, and not ${sdkVersion}.\n${advice}`);
  },
);

/** Vectors of SipHash-1-3 with a key of zero, over the text and 0xff: as Core's `str_to_randomness_seed` makes them. */
test('chance is seeded as Core seeds it', () => {
  expect(randomnessSeedOf('')).not.toEqual(randomnessSeedOf('a'));
  expect(randomnessSeedOf('a')).toHaveLength(8);
});
