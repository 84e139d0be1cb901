import { contextOf, nodeOf, novaOf } from '../../test/fixtures/workflows/hypervisor.ts';
import type { Context } from './types.ts';
import { judgeHighAvailability, signalFailure } from './high-availability.ts';
import type { HighAvailabilityQuestion } from './high-availability.ts';

describe('HaEnabled', () => {
  const question: HighAvailabilityQuestion = { wanted: true, handled: true, evicted: false, onboarding: 'succeeded' };

  const rows: [
    why: string,
    more: Partial<HighAvailabilityQuestion>,
    status: string,
    reason: string,
    message: string,
  ][] = [
    ['in service', {}, 'True', 'Succeeded', 'HA is enabled'],
    ['from when its tests have passed', { onboarding: 'handover' }, 'True', 'Succeeded', 'HA is enabled'],
    ['not before', { onboarding: 'testing' }, 'False', 'Onboarding', 'HA disabled before onboarding'],
    ['nor when it was aborted', { onboarding: 'aborted' }, 'False', 'Onboarding', 'HA disabled before onboarding'],
    ['an empty host has nothing to save', { evicted: true }, 'False', 'Evicted', 'HA disabled due to eviction'],
    ['no user wants it', { wanted: false, evicted: true }, 'False', 'Succeeded', 'HA disabled per spec'],
    [
      'it is switched off',
      { handled: false },
      'False',
      'Succeeded',
      'HA disabled by drover’s settings: failed nodes are not handled',
    ],
  ];

  test.each(rows)('%s', (_why, more, status, reason, message) => {
    expect(judgeHighAvailability({ ...question, ...more })).toEqual({ type: 'HaEnabled', status, reason, message });
  });
});

describe('what the run of a failure is signalled', () => {
  const down = nodeOf({ ready: false });
  const fenced = { reason: 'NodeFailure', message: 'it was fenced' };
  /** The cause; null: the run is not signalled. */
  const signalOf = (context: Context, signalled: Context['memory']['signalled'] = null, askedMs = 5): string | null => {
    const step = signalFailure({ ...context, memory: { ...context.memory, signalled } }, askedMs);
    return step?.kind === 'signalNodeFailure' ? step.cause : null;
  };

  test('a Node that is not Ready is signalled once, with a cause that changes with it', () => {
    const context = contextOf({ highAvailability: true }, { node: down });
    const cause = signalOf(context);
    expect(cause).toContain('not Ready since');
    expect(signalOf(context)).toBe(cause);
    expect(signalOf(context, { cause: cause ?? '', atMs: 1 })).toBeNull();
    const later = nodeOf({ ready: false, readySinceMs: down.readySinceMs + 1_000 });
    expect(signalOf(contextOf({ highAvailability: true }, { node: later }), { cause: cause ?? '', atMs: 1 })).not.toBe(
      cause,
    );
  });

  test('so is a nova-compute that is down while its Node is Ready', () => {
    const isDown = {
      nova: novaOf({ service: { status: 'enabled', disabledReason: null, state: 'down', forcedDown: false } }),
    };
    expect(signalOf(contextOf({ highAvailability: true }, isDown))).toMatch(/is Ready since .*nova-compute is down$/u);
    expect(signalOf(contextOf({ highAvailability: false }, isDown))).toBeNull();
    expect(signalOf(contextOf({ highAvailability: true }, { nova: null }))).toBeNull();
    expect(signalOf(contextOf({ highAvailability: true }, { ...isDown, node: null }))).toBe(
      'Node node-1 is gone, boot boot-1; nova-compute is down',
    );
    expect(signalOf(contextOf({ highAvailability: true, nodeUid: null }, { ...isDown, node: null }))).toBeNull();
  });

  const silent: [why: string, ...context: Parameters<typeof contextOf>][] = [
    ['it is Ready', { highAvailability: true }, {}],
    [
      'failed nodes are not handled',
      { highAvailability: true },
      { node: down },
      undefined,
      { handlesNodeFailure: false },
    ],
    ['drover only observes', { highAvailability: true }, { node: down }, undefined, { mode: 'observe' }],
    ['its Hypervisor only wants to be observed', { highAvailability: true, mode: 'observe' }, { node: down }],
    ['its Hypervisor does not want it', { highAvailability: false }, { node: down }],
    ['it is being deleted', { highAvailability: true, deleting: true }, { node: down }],
    ['there is no Node', { highAvailability: true }, { node: null }],
    [
      'it is empty for maintenance',
      { highAvailability: true, maintenance: 'manual' },
      { node: down, recorded: { ...contextOf().observed.recorded, evicted: true } },
    ],
    ['it was fenced and has left Nova', {}, { hold: fenced, nova: null }],
    ['it is held for another reason', { highAvailability: true }, { hold: { reason: 'Held', message: 'disks' } }],
  ];
  test.each(silent)('it is not signalled where %s', (_why, ...context) => {
    expect(signalOf(contextOf(...context))).toBeNull();
  });

  test('while it is held because it was fenced, it is signalled whatever else is wanted', () => {
    expect(signalOf(contextOf({ highAvailability: false }, { hold: fenced }))).toContain('is Ready since');
    expect(signalOf(contextOf({}, { hold: fenced, node: down }))).toContain('not Ready');
  });

  test('and once for each observation, as the run that was signalled may have been terminated', () => {
    const context = contextOf({}, { hold: fenced });
    const cause = signalOf(context) ?? '';
    expect(signalOf(context, { cause, atMs: 1 }, 5)).toBe(cause);
    expect(signalOf(context, { cause, atMs: 5 }, 5)).toBeNull();
    const ending = contextOf({}, { hold: fenced, failureRun: 'open' });
    expect(signalOf(ending, { cause, atMs: 1 }, 5)).toBe(cause);
  });

  test('after a user has cancelled that run, only what ends the failure is signalled, or what is new of it', () => {
    const recorded = {
      ...contextOf().observed.recorded,
      conditions: [
        {
          type: 'NodeFailure',
          status: 'False' as const,
          reason: 'Cancelled',
          message: '',
          lastTransitionTime: new Date(down.readySinceMs + 60_000).toISOString(),
        },
      ],
    };
    const computeDown = novaOf({
      service: { status: 'enabled', disabledReason: null, state: 'down', forcedDown: false },
    });
    const of = (more: Parameters<typeof contextOf>[1]): string | null =>
      signalOf(contextOf({ highAvailability: true }, { recorded, ...more }));
    expect(of({ node: down })).toBeNull();
    expect(of({ nova: computeDown })).toBeNull();
    expect(of({ node: null, nova: computeDown })).toBeNull();
    expect(of({ nova: null })).toBeNull();
    expect(of({ node: null })).toBeNull();
    expect(of({})).toContain('is Ready');
    const anew = nodeOf({ ready: false, readySinceMs: down.readySinceMs + 61_000 });
    expect(of({ node: anew, nova: computeDown })).toContain('not Ready');
    // While it is fenced, another run would evacuate on: it is only to be restored.
    expect(of({ hold: fenced, node: down, nova: computeDown })).toBeNull();
    expect(of({ hold: fenced, node: anew, nova: computeDown })).toBeNull();
    expect(of({ hold: fenced, node: null, nova: computeDown })).toBeNull();
    expect(of({ hold: fenced, nova: computeDown })).toContain('is Ready');
  });

  test('one that is said to have failed, and whose run was terminated, is signalled whatever has become of it', () => {
    const contexts = [
      contextOf({}, { failureRun: 'closed' }),
      contextOf({ highAvailability: false }, { failureRun: 'closed', node: null }),
      contextOf({ nodeUid: null }, { failureRun: 'closed', node: null, nova: null }),
    ];
    for (const context of contexts) {
      const cause = signalOf(context) ?? '';
      expect(cause).toContain('node-1');
      expect(signalOf(context, { cause, atMs: 1 }, 5)).toBe(cause);
      expect(signalOf(context, { cause, atMs: 5 }, 5)).toBeNull();
    }
    expect(signalOf(contextOf({}, { failureRun: 'open' }))).toBeNull();
  });
});
