import { systemClock } from '../../runtime/clock.ts';
import type { Arrival, Target } from './await-state.ts';
import { awaitArrival, judgeArrival } from './await-state.ts';
import { tableError } from '../command/error.ts';
import type { EvictionObject } from '../eviction/eviction-objects.ts';
import type { HypervisorObject } from './hypervisor-objects.ts';
import { ago } from '../../test/fixtures/starters/progress.ts';
import { sampleEviction } from '../../test/fixtures/starters/eviction.ts';
import { lifecycle, sampleHypervisor } from '../../test/fixtures/starters/hypervisor.ts';

const maintenance: Target = {
  state: 'Maintenance',
  asked: (hypervisor) => (hypervisor?.maintenance === 'manual' ? 'yes' : 'no'),
};
const active: Target = { state: 'Active', asked: (hypervisor) => (hypervisor === null ? 'not yet' : 'yes') };
const asks = (facts: Partial<HypervisorObject>): HypervisorObject =>
  sampleHypervisor({ maintenance: 'manual', ...facts });
const enabled = {
  type: 'HypervisorDisabled',
  status: 'False' as const,
  reason: 'Succeeded',
  message: '',
  lastTransitionTime: ago(1),
};
const eviction = sampleEviction({
  conditions: [
    {
      type: 'Evicting',
      status: 'True',
      reason: 'Running',
      message: '3 of 24 servers have left',
      lastTransitionTime: ago(9),
    },
  ],
});

test.each<
  [
    why: string,
    hypervisor: HypervisorObject | null,
    eviction: EvictionObject | null,
    target: Target,
    kind: Arrival['kind'],
    message: RegExp,
  ]
>([
  [
    'there',
    asks({ conditions: [lifecycle('Maintenance')] }),
    null,
    maintenance,
    'reached',
    /^Maintenance: Maintenance it is$/u,
  ],
  [
    'on its way',
    asks({ conditions: [lifecycle('Evicting', 'Unknown', 'Disable it')] }),
    null,
    maintenance,
    'going',
    /^Evicting: Disable it$/u,
  ],
  [
    'the Eviction’s message is fresher',
    asks({ conditions: [lifecycle('Evicting', 'Unknown')] }),
    eviction,
    maintenance,
    'going',
    /^Evicting: Eviction node-1: 3 of 24/u,
  ],
  [
    'an Eviction that is not waited for',
    asks({ conditions: [lifecycle('Testing', 'Unknown')] }),
    eviction,
    maintenance,
    'going',
    /^Testing/u,
  ],
  [
    'it is blocked on the way',
    asks({ conditions: [lifecycle('Evicting', 'False', 'has not emptied it')] }),
    null,
    maintenance,
    'elsewhere',
    /has not emptied/u,
  ],
  [
    'it is blocked in the right state',
    asks({ conditions: [lifecycle('Maintenance', 'False', 'the update has failed')] }),
    null,
    maintenance,
    'elsewhere',
    /failed/u,
  ],
  [
    'what was said of another spec',
    asks({ conditions: [lifecycle('Maintenance', 'True', 'x', 2)] }),
    null,
    maintenance,
    'going',
    /No run/u,
  ],
  ['nothing was said', asks({ conditions: [] }), null, maintenance, 'going', /No run/u],
  ['a user took it back', sampleHypervisor(), null, maintenance, 'elsewhere', /A user has changed/u],
  ['gone', null, null, maintenance, 'elsewhere', /is gone/u],
  ['not made yet', null, null, active, 'going', /no Hypervisor yet/u],
  ['being deleted', asks({ deleting: true }), null, maintenance, 'elsewhere', /being deleted/u],
  [
    'another end',
    sampleHypervisor({ conditions: [lifecycle('Decommissioned')] }),
    null,
    active,
    'elsewhere',
    /Decommissioned/u,
  ],
  [
    'enabled, but not driven',
    sampleHypervisor({ lifecycleEnabled: false, conditions: [lifecycle('Initial', 'False'), enabled] }),
    null,
    active,
    'reached',
    /Initial/u,
  ],
  [
    'neither',
    sampleHypervisor({ lifecycleEnabled: false, conditions: [lifecycle('Initial', 'False')] }),
    null,
    active,
    'elsewhere',
    /Initial/u,
  ],
])('%s', (_why, hypervisor, its, target, kind, message) => {
  expect(judgeArrival(hypervisor, its, target)).toEqual({ kind, message: expect.stringMatching(message) });
});

const source = (answers: (HypervisorObject | Error)[]) => ({
  hypervisor: async () => {
    const next = answers.length > 1 ? answers.shift() : answers[0];
    if (next instanceof Error) throw next;
    return next ?? null;
  },
  eviction: () => Promise.reject(new Error('may not be listed')),
});
const options = () => {
  const shown: string[] = [];
  return {
    shown,
    intervalMs: 0,
    untilMs: Infinity,
    clock: systemClock,
    abort: new AbortController().signal,
    show: (message: string) => void shown.push(message),
  };
};
const evicting = (message: string) => asks({ conditions: [lifecycle('Evicting', 'Unknown', message)] });

test('each change is shown once, and what is away is waited for', async () => {
  const its = options();
  const away = tableError('KubernetesUnavailable', 'no answer.');
  const arrival = await awaitArrival(
    source([evicting('a'), evicting('a'), away, evicting('b'), asks({ conditions: [lifecycle('Maintenance')] })]),
    maintenance,
    its,
  );
  expect(arrival.kind).toBe('reached');
  expect(its.shown).toEqual(['Evicting: a', 'no answer. Still trying.', 'Evicting: b']);
});

test('a no is a no, the time ends, and so does Ctrl-C', async () => {
  await expect(
    awaitArrival(source([tableError('KubernetesForbidden', 'may not.')]), maintenance, options()),
  ).rejects.toThrow('may not.');
  await expect(awaitArrival(source([evicting('a')]), maintenance, { ...options(), untilMs: 0 })).resolves.toEqual({
    kind: 'going',
    message: 'Evicting: a',
  });
  const controller = new AbortController();
  const waiting = awaitArrival(source([evicting('a')]), maintenance, {
    ...options(),
    intervalMs: 60_000,
    abort: controller.signal,
  });
  controller.abort(new Error('interrupted'));
  await expect(waiting).rejects.toThrow(/interrupted|aborted/u);
});
