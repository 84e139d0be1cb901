import type { ErrorCode } from '../../contracts/errors.ts';
import { judgeSmoke, type SmokeView } from './run-smoke-check.ts';
import { isOwnedBy, isSmokeServer, smokeMetadata, smokeServerName } from './smoke-server.ts';

const expected = { name: 'drover-smoke-node-1', host: 'node-1', console: 'drover-smoke-node-1 login:' };
const active = { status: 'ACTIVE', host: 'node-1', taskState: null, fault: null };
const login = 'Welcome\ndrover-smoke-node-1 login: ';

type Row = [what: string, view: SmokeView, over: boolean, codes: (ErrorCode | null)[], observed: RegExp];
const rows: Row[] = [
  [
    'is being built',
    { server: { ...active, status: 'BUILD', host: null, taskState: 'scheduling' }, console: null },
    false,
    ['SmokeServerFailed'],
    /^BUILD \(scheduling\) on no host$/u,
  ],
  ['came up on the host', { server: active, console: login }, true, [null, null], /^it is there$/u],
  [
    'has booted half',
    { server: active, console: 'Booting Linux' },
    false,
    [null, 'SmokeServerFailed'],
    /^“…Booting Linux”$/u,
  ],
  ['shows nothing', { server: active, console: ' \n' }, false, [null, 'SmokeServerFailed'], /^an empty console$/u],
  ['has no console yet', { server: active, console: null }, false, [null, 'ConsoleUnavailable'], /^no console$/u],
  [
    'is in ERROR',
    { server: { ...active, status: 'ERROR', fault: 'No valid host was found.' }, console: null },
    true,
    ['SmokeServerFailed'],
    /^ERROR on node-1: No valid host/u,
  ],
  [
    'came up elsewhere',
    { server: { ...active, host: 'node-2' }, console: login },
    true,
    ['SmokeServerFailed'],
    /^ACTIVE on node-2$/u,
  ],
  [
    'was stopped',
    { server: { ...active, status: 'SHUTOFF' }, console: null },
    false,
    ['SmokeServerFailed'],
    /^SHUTOFF on node-1$/u,
  ],
  [
    'is being deleted',
    { server: { ...active, status: 'BUILD', taskState: 'deleting' }, console: null },
    true,
    ['SmokeServerFailed'],
    /^BUILD \(deleting\) on node-1$/u,
  ],
  ['is gone', { server: null, console: null }, true, ['SmokeServerFailed'], /deleted/u],
];
test.each(rows)('a server that %s', (_, view, over, codes, observed) => {
  const verdict = judgeSmoke(view, expected);
  expect(verdict.over).toBe(over);
  expect(verdict.findings.map(({ code }) => code)).toEqual(codes);
  expect(verdict.findings.at(-1)?.observed).toMatch(observed);
});

test('where nothing is asked of the console, ACTIVE is enough', () => {
  expect(judgeSmoke({ server: active, console: null }, { ...expected, console: null })).toEqual({
    over: true,
    findings: [expect.objectContaining({ name: 'server', code: null })],
  });
});

const namesOf: [host: string, name: string][] = [
  ['node-1', 'drover-smoke-node-1'],
  ['Node-1.Example_org', 'drover-smoke-node-1-example-org'],
  ['n'.repeat(80), `drover-smoke-${'n'.repeat(50)}`],
  [`${'n'.repeat(49)}.x`, `drover-smoke-${'n'.repeat(49)}`],
];
test.each(namesOf)('the server on %s is called %s', (host, name) => {
  expect(smokeServerName(host)).toBe(name);
});

test('only the mark makes a server drover’s', () => {
  const owner = { host: 'node-1', hypervisor: 'node-1', uid: 'u-1' };
  const metadata = smokeMetadata(owner);
  for (const key of Object.keys(metadata)) expect(key).toMatch(/^[a-zA-Z0-9-_:. ]{1,255}$/u);
  expect(isOwnedBy({ metadata }, owner)).toBe(true);
  expect(isOwnedBy({ metadata }, { ...owner, uid: 'u-2' })).toBe(false);
  expect(isSmokeServer({ metadata }, 'node-1')).toBe(true);
  expect(isSmokeServer({ metadata }, 'node-2')).toBe(false);
  expect(isSmokeServer({ metadata: {} }, 'node-1')).toBe(false);
});
