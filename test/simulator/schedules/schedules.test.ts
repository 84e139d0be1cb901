import { sample } from 'fast-check';
import { loadWorkflows } from '../bundle.ts';
import { runSchedule } from './run-schedule.ts';
import type { EventKind, Schedule } from './schedule.ts';
import { schedules } from './schedule.ts';

/** It ends what hangs, and not what a busy machine takes long for. */
const limitMs = 600_000;

const calm = { seed: 1, migrations: [['ok'], ['ok'], ['ok']] as const };
const at = (atMs: number, kind: EventKind, which = 0) => ({ atMs, kind, which, forMs: 20_000 });

/** All that is in the schedule happens, comes to its end, and the invariants hold. */
async function expectSettled(schedule: Schedule): Promise<void> {
  const { complaints, happened } = await runSchedule(await loadWorkflows(), schedule);
  expect({ complaints, happened }).toEqual({ complaints: [], happened: schedule.events.map(({ kind }) => kind) });
}

test(
  'whatever happens at random, all comes to its end and the invariants hold',
  async () => {
    const bundle = await loadWorkflows();
    const sampled = sample(schedules, { numRuns: 12, seed: 20_261_123 });
    for (const schedule of sampled) {
      const { complaints } = await runSchedule(bundle, schedule);
      expect({ schedule, complaints }).toEqual({ schedule, complaints: [] });
    }
  },
  limitMs,
);

test(
  'a broken verb is noticed: a host that is taken for empty',
  async () => {
    const migrations = [['fail', 'fail', 'fail'], ['ok'], ['ok']] as const;
    const schedule = { ...calm, migrations, events: [at(1_000, 'evict')] };
    const { complaints } = await runSchedule(await loadWorkflows(), schedule, {
      mutate: (activity, original) =>
        activity === 'observeHost'
          ? async (...args) => {
              const host = (await original(...args)) as object;
              return { ...host, instances: [], allocations: [], migrations: [] };
            }
          : null,
    });
    expect(complaints.join()).toContain('invariant 5');
  },
  limitMs,
);

test(
  'a server that a user deletes while its migration hangs is none of drover’s any more',
  async () => {
    const migrations = [['hang'], ['ok'], ['ok']] as const;
    const events = [at(1_000, 'evict'), at(7_000, 'deleteServer')];
    await expectSettled({ ...calm, migrations, events });
  },
  limitMs,
);

test(
  'an Eviction whose run is terminated while it waits for its Node stays held until it is deleted',
  async () => {
    // 22,000 writes the cause rolling-update on the Eviction.
    const begun = [{ ...at(1_000, 'evict', 3), forMs: 22_000 }, at(10_000, 'terminateEviction', 3)];
    // The invariants are checked after each event: the policy is there so that they are while it is held. The last
    // one shows that its name is free again.
    const ended = [at(20_000, 'createPolicy'), at(30_000, 'deleteEviction', 3), at(50_000, 'evict', 3)];
    const events = [...begun, ...ended];
    await expectSettled({ ...calm, events });
  },
  limitMs,
);

test(
  'servers that a user has stopped go cold, are confirmed, and stay stopped',
  async () => {
    const schedule = { ...calm, stopped: [true, false, true], events: [at(1_000, 'evict'), at(4_000, 'evict', 1)] };
    const { complaints } = await runSchedule(await loadWorkflows(), schedule);
    expect(complaints).toEqual([]);
  },
  limitMs,
);

test(
  'a machine that loses its power is fenced at the word of a user, evacuated, and comes back',
  async () => {
    const begun = [at(1_000, 'onboard'), at(90_000, 'createServer', 2)];
    const events = [...begun, at(150_000, 'cutPower'), at(200_000, 'confirmOff')];
    await expectSettled({ ...calm, events });
  },
  limitMs,
);

test(
  'the run of a policy is cancelled and terminated while it is at work',
  async () => {
    const events = [at(1_000, 'createPolicy'), at(60_000, 'cancelPolicy'), at(120_000, 'terminatePolicy')].map(
      // Each makes another change.
      (event, index) => ({ ...event, forMs: 20_250 + index }),
    );
    await expectSettled({ ...calm, events });
  },
  limitMs,
);

test(
  'a virtual machine waits for its policy whose run is cancelled before it makes anything, and goes on with it',
  async () => {
    const made = [{ ...at(0, 'createVm', 3), forMs: 507 }, at(332, 'createPolicy', 7)];
    const events = [...made, { ...at(332, 'cancelPolicy', 7), forMs: 20_712 }];
    await expectSettled({ ...calm, seed: 0, events });
  },
  limitMs,
);

test(
  'an Eviction that is only to be observed while its run begins is not waited for',
  async () => {
    // 12,279 writes the mode observe.
    const events = [
      { ...at(0, 'evict'), forMs: 500 },
      { ...at(625, 'annotateEviction'), forMs: 12_279 },
    ];
    await expectSettled({ ...calm, seed: 0, events });
  },
  limitMs,
);

test(
  'what a stop holds of virtual machines goes on when it is lifted, and no user asks for it',
  async () => {
    const made = [at(1_000, 'createVm'), at(2_000, 'createVm', 1)];
    // 20,001 powers it off.
    const held = [{ ...at(61_000, 'powerVm'), forMs: 20_001 }, at(61_500, 'deleteVm', 1)];
    const events = [...made, { ...at(60_000, 'stopAll'), forMs: 90_000 }, ...held];
    await expectSettled({ ...calm, events });
  },
  limitMs,
);

test(
  'one seed gives one story, and another seed another',
  async () => {
    const bundle = await loadWorkflows();
    const events = [at(1_000, 'evict'), at(5_000, 'killWorker'), at(9_000, 'createVm'), at(30_000, 'outage', 3)];
    const storyOf = (seed: number) => runSchedule(bundle, { ...calm, seed, events });
    const [first, again, other] = [await storyOf(1), await storyOf(1), await storyOf(2)];
    expect(again.story).toBe(first.story);
    expect(other.story).not.toBe(first.story);
  },
  limitMs,
);
