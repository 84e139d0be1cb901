import { failureNews } from './failure-news.ts';
import { contextOf, nodeOf, novaOf } from '../../test/fixtures/workflows/hypervisor.ts';

const down = nodeOf({ ready: false });
const fenced = { reason: 'NodeFailure', message: 'it was fenced' };

test('a Node that is not Ready is told of, by words that change with it', () => {
  const told = failureNews(contextOf({ highAvailability: true }, { node: down }), undefined);
  expect(told).toContain('not Ready since');
  expect(failureNews(contextOf({ highAvailability: true }, { node: down }), undefined)).toBe(told);
  expect(failureNews(contextOf({ highAvailability: true }, { node: down }), told!)).toBeNull();
  expect(
    failureNews(
      contextOf(
        { highAvailability: true },
        { node: nodeOf({ ready: false, readySinceMs: down.readySinceMs + 1_000 }) },
      ),
      undefined,
    ),
  ).not.toBe(told);
});

test('so is a nova-compute that is down while its Node is Ready', () => {
  const isDown = {
    nova: novaOf({ service: { status: 'enabled', disabledReason: null, state: 'down', forcedDown: false } }),
  };
  expect(failureNews(contextOf({ highAvailability: true }, isDown), undefined)).toMatch(
    /is Ready since .*nova-compute is down$/u,
  );
  expect(failureNews(contextOf({ highAvailability: false }, isDown), undefined)).toBeNull();
  expect(failureNews(contextOf({ highAvailability: true }, { nova: null }), undefined)).toBeNull();
});

const silent: [why: string, ...context: Parameters<typeof contextOf>][] = [
  ['it is Ready', { highAvailability: true }, {}],
  ['nobody handles failed nodes', { highAvailability: true }, { node: down }, undefined, { handlesNodeFailure: false }],
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
  ['something else holds it', { highAvailability: true }, { hold: { reason: 'Held', message: 'disks' } }],
];
test.each(silent)('nothing is told where %s', (_why, ...context) => {
  expect(failureNews(contextOf(...context), undefined)).toBeNull();
});

test('while it is held because it was fenced, everything is told, whoever wants what', () => {
  expect(failureNews(contextOf({ highAvailability: false }, { hold: fenced }), undefined)).toContain('is Ready since');
  expect(failureNews(contextOf({}, { hold: fenced, node: down }), undefined)).toContain('not Ready');
});

test('and again at every look, as the run that was told may have been terminated', () => {
  const told = failureNews(contextOf({}, { hold: fenced }), undefined);
  expect(failureNews(contextOf({}, { hold: fenced }), told!)).toBe(told);
});
