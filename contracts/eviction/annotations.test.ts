import { agentReason, consentBy, readAsked, readEvictionAnnotations } from './annotations.ts';
import { annotations } from '../ids.ts';

const nothing = {
  cause: 'admin',
  deadline: null,
  reEnable: null,
  parallelism: null,
  acceptedObstacles: [],
  consent: [],
  mode: 'act',
  startedBy: null,
};
const by = { [annotations.consentBy]: 'jane doe 2026-01-31T12:00:00Z' };

const good: [given: Record<string, string>, asked: object][] = [
  [{}, {}],
  [{ [annotations.cause]: ' rolling-update ' }, { cause: 'rolling-update' }],
  [{ [annotations.cause]: '' }, {}],
  [{ [annotations.deadline]: '2026-01-31T12:00:00+01:00' }, { deadline: '2026-01-31T12:00:00+01:00' }],
  [{ [annotations.reEnable]: 'false' }, { reEnable: false }],
  [{ [annotations.parallelism]: '64' }, { parallelism: 64 }],
  [{ [annotations.mode]: 'observe' }, { mode: 'observe' }],
  [{ [annotations.startedBy]: 'jane' }, { startedBy: 'jane' }],
  [{ ...by, [annotations.consent]: 'cold-migrate, force-complete,' }, { consent: ['cold-migrate', 'force-complete'] }],
  [
    { ...by, [annotations.acceptObstacles]: 'CapacityShort,PciDevice/4f0c' },
    { acceptedObstacles: ['CapacityShort', 'PciDevice/4f0c'] },
  ],
];

test.each(good)('%j', (given, asked) => {
  expect(readEvictionAnnotations(given)).toEqual({ asked: { ...nothing, ...asked }, problems: [] });
});

const bad: [given: Record<string, string>, problem: string][] = [
  [{ [annotations.cause]: 'maintenance' }, 'drover.dev/eviction-cause: `maintenance` is unknown; known are admin,'],
  [{ [annotations.deadline]: 'tomorrow' }, 'drover.dev/deadline: `tomorrow` is no RFC 3339 time'],
  [{ [annotations.deadline]: '2026-13-31T12:00:00Z' }, 'drover.dev/deadline:'],
  [{ [annotations.deadline]: '2026-01-31T12:00:00' }, 'drover.dev/deadline:'],
  [{ [annotations.reEnable]: 'yes' }, 'drover.dev/re-enable: `yes` is neither true nor false'],
  [{ [annotations.parallelism]: '0' }, 'drover.dev/parallelism: `0` is no whole number from 1 to 64'],
  [{ [annotations.parallelism]: '65' }, 'drover.dev/parallelism:'],
  [{ [annotations.parallelism]: '1e1' }, 'drover.dev/parallelism:'],
  [{ [annotations.mode]: 'off' }, 'drover.dev/mode:'],
  [{ ...by, [annotations.consent]: 'cold-migrate,stop' }, 'drover.dev/consent: `stop` is unknown'],
  [{ ...by, [annotations.acceptObstacles]: 'Everything' }, 'drover.dev/accept-obstacles: `Everything` is no obstacle'],
  [{ ...by, [annotations.acceptObstacles]: 'PciDevice/' }, 'drover.dev/accept-obstacles:'],
  [{ [annotations.consent]: 'cold-migrate' }, 'drover.dev/consent-by: must say who consents'],
  [{ [annotations.consent]: 'cold-migrate', [annotations.consentBy]: 'jane' }, 'drover.dev/consent-by:'],
  [
    { [annotations.acceptObstacles]: 'Vgpu', [annotations.consentBy]: '2026-01-31T12:00:00Z' },
    'drover.dev/consent-by:',
  ],
];

test.each(bad)('%j is a problem, and is read as if it were not there', (given, problem) => {
  const { asked, problems } = readEvictionAnnotations(given);
  expect(problems).toEqual([expect.stringContaining(problem)]);
  expect(asked).toEqual(nothing);
});

test('every problem is named', () => {
  expect(readEvictionAnnotations({ [annotations.cause]: 'x', [annotations.deadline]: 'y' }).problems).toHaveLength(2);
});

test('who consents is written as it is read', () => {
  const given = {
    [annotations.consent]: 'cold-migrate',
    [annotations.consentBy]: consentBy('jane@example.com', new Date(0)),
  };
  expect(readEvictionAnnotations(given).asked.consent).toEqual(['cold-migrate']);
});

test.each([
  ['the node agent’s emergency Eviction', 'node-1', {}, agentReason, 'termination'],
  ['one that says its cause', 'node-1', { [annotations.cause]: 'admin' }, agentReason, 'admin'],
  ['one of another name', 'other', {}, agentReason, 'admin'],
  ['one that only begins so', 'node-1', {}, `${agentReason}!`, 'admin'],
  ['a user’s', 'node-1', {}, 'disks', 'admin'],
])('whose Eviction it is: %s', (_whose, name, given, reason, cause) => {
  const { asked, problems } = readAsked({
    metadata: { name, annotations: given },
    spec: { hypervisor: 'node-1', reason },
  });
  expect([asked.cause, problems]).toEqual([cause, []]);
});
