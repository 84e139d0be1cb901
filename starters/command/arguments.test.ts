import { InvalidArgumentError } from 'commander';
import {
  collectConsents,
  collectHypervisorConsents,
  collectObstacles,
  collectStates,
  collectVirtualMachineStates,
  parseCause,
  parseDeadline,
  parseFromNow,
  parseHost,
  parseMaintainMode,
  parseParallelism,
  parseReason,
  parseTimeout,
} from './arguments.ts';

const now = Date.parse('2026-01-31T12:00:00Z');
test.each<[text: string, ms: number | null]>([
  ['90m', 5_400_000],
  ['1d12h', 129_600_000],
  ['2026-01-31T12:00:00Z', null],
])('%s as a time from now', (text, ms) => {
  expect(parseFromNow(text)).toBe(ms);
});

const deadline = (text: string) => parseDeadline(text, now);
const consents = (text: string) => collectConsents(text, undefined);
const obstacles = (text: string) => collectObstacles(text, ['Vgpu']);

test.each<[why: string, parse: (text: string) => unknown, text: string, value: unknown]>([
  ['a short host name', parseHost, 'node-1', 'node-1'],
  ['a full host name', parseHost, 'node001-bb93.cc.example', 'node001-bb93.cc.example'],
  ['Nova allows underscores', parseHost, 'Compute_1', 'Compute_1'],
  ['a reason is trimmed', parseReason, ' broken DIMM ', 'broken DIMM'],
  ['a cause', parseCause, 'rolling-update', 'rolling-update'],
  ['parallelism', parseParallelism, '4', 4],
  ['a deadline with a zone', deadline, '2026-02-01T00:00:00+01:00', '2026-01-31T23:00:00Z'],
  ['a deadline from now', deadline, '1d12h30m', '2026-02-02T00:30:00Z'],
  ['minutes from now', deadline, '90m', '2026-01-31T13:30:00Z'],
  ['consents as a list', consents, 'cold-migrate, force-complete,cold-migrate', ['cold-migrate', 'force-complete']],
  [
    'consents for a hypervisor',
    (text) => collectHypervisorConsents(text, undefined),
    'delete-allocations',
    ['delete-allocations'],
  ],
  [
    'states in any capitals',
    (text) => collectStates(text, ['Active']),
    'MAINTENANCE,evicting',
    ['Active', 'Maintenance', 'Evicting'],
  ],
  [
    'states of virtual machines',
    (text) => collectVirtualMachineStates(text, undefined),
    'notowned,WaitingForTools,NotOwned',
    ['NotOwned', 'WaitingForTools'],
  ],
  ['a mode', parseMaintainMode, 'ha', 'ha'],
  ['a patience', parseTimeout, '1h30m', 5_400_000],
  ['obstacles add up', obstacles, 'LocalDisk/5f0a,Vgpu', ['Vgpu', 'LocalDisk/5f0a']],
])('%s', (_why, parse, text, value) => {
  expect(parse(text)).toEqual(value);
});

test.each<[why: string, parse: (text: string) => unknown, text: string, words: RegExp]>([
  ['no host', parseHost, '', /host name/],
  ['a path as host', parseHost, '../node', /host name/],
  ['an endless host', parseHost, 'a'.repeat(254), /253/],
  ['an empty reason', parseReason, '  ', /Say why/],
  ['a novel as reason', parseReason, 'x'.repeat(1025), /1024/],
  ['an unknown cause', parseCause, 'boredom', /admin, decommission/],
  ['no parallelism', parseParallelism, '0', /1 to 64/],
  ['absurd parallelism', parseParallelism, '65', /1 to 64/],
  ['half parallelism', parseParallelism, '1.5', /1 to 64/],
  ['hexadecimal parallelism', parseParallelism, '0x2', /1 to 64/],
  ['a deadline that has passed', deadline, '2026-01-31T11:59:00Z', /1m ago/],
  ['a deadline without a zone', deadline, '2026-02-01T00:00:00', /RFC 3339/],
  ['a deadline in no month', deadline, '2026-13-01T00:00:00Z', /RFC 3339/],
  ['no deadline', deadline, '', /RFC 3339/],
  ['a deadline of nothing', deadline, '0m', /lies ahead/],
  ['a deadline in the next century', deadline, '2126-01-01T00:00:00Z', /more than a year/],
  ['an unknown consent', consents, 'fence', /cold-migrate, force-complete/],
  ['a state that is none', (text) => collectStates(text, undefined), 'tired', /Initial, Onboarding/],
  ['a state of hosts', (text) => collectVirtualMachineStates(text, undefined), 'Active', /Reconciled, Paused/],
  ['an empty state', (text) => collectStates(text, undefined), ',', /empty/],
  ['a mode that is none', parseMaintainMode, '', /manual, auto, ha/],
  ['the mode that is a command', parseMaintainMode, 'termination', /drover decommission/],
  ['no patience', parseTimeout, '0h', /A duration/],
  ['a patience that is none', parseTimeout, '', /A duration/],
  ['an empty list', consents, ' , ', /empty/],
  ['no obstacle', obstacles, 'rm -rf', /not the id/],
])('%s is refused', (_why, parse, text, words) => {
  expect(() => parse(text)).toThrow(InvalidArgumentError);
  expect(() => parse(text)).toThrow(words);
});
