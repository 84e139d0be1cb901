import { judgeChange, digestOf, toWatched, watchedPaths } from './watched.ts';

const ref = (value: string) => ({ type: 'ManagedEntity', value });

const properties: Readonly<Record<string, unknown>> = {
  name: 'web',
  parent: ref('group-v3'),
  resourcePool: ref('resgroup-8'),
  'runtime.powerState': 'poweredOn',
  'runtime.host': ref('host-1'),
  'runtime.connectionState': 'connected',
  'guest.toolsRunningStatus': 'guestToolsRunning',
  'guest.ipAddress': '192.0.2.1',
  'guest.hostName': 'web',
  guestHeartbeatStatus: 'green',
  'config.changeVersion': '7',
};

const before = toWatched(properties);

test.each<[path: string, value: unknown, words: string[]]>([
  ['runtime.powerState', 'poweredOff', ['powered off']],
  ['runtime.powerState', 'suspended', ['suspended']],
  ['runtime.host', ref('host-2'), ['on another host']],
  ['runtime.host', undefined, ['on another host']],
  ['runtime.connectionState', 'disconnected', ['disconnected']],
  ['guest.toolsRunningStatus', 'guestToolsNotRunning', ['Tools do not run']],
  ['guest.ipAddress', '192.0.2.2', ['an address']],
  ['guest.ipAddress', undefined, ['no address']],
  ['guest.hostName', 'db', ['the guest’s name']],
  [
    'guest.customizationInfo',
    { $type: 'GuestInfoCustomizationInfo', customizationStatus: 'TOOLSDEPLOYPKG_SUCCEEDED' },
    ['the guest’s customization'],
  ],
  ['guestHeartbeatStatus', 'red', ['heartbeat red']],
  ['rootSnapshot', [ref('snapshot-1')], ['snapshots']],
  ['snapshot.currentSnapshot', ref('snapshot-1'), []],
  ['config.changeVersion', '8', ['reconfigured']],
  ['name', 'renamed', ['renamed']],
  ['parent', ref('group-v4'), ['in another folder']],
  ['resourcePool', ref('resgroup-9'), ['in another resource pool']],
  // It is not used, and so not requested.
  ['summary.quickStats.guestMemoryUsage', 7, []],
  // What has become another kind of thing is as good as not set.
  ['name', { $type: 'Odd' }, ['renamed']],
])('%s becoming %j: %j', (path, value, words) => {
  const after = toWatched({ ...properties, [path]: value });
  expect(judgeChange(before, after)).toEqual(words);
  expect(digestOf(after) === digestOf(before)).toBe(words.length === 0);
});

test('several at once are one cause each, the power state first', () => {
  expect(
    judgeChange(before, toWatched({ ...properties, 'guest.ipAddress': undefined, 'runtime.powerState': 'poweredOff' })),
  ).toEqual(['powered off', 'no address']);
});

test('a VM appears and is gone', () => {
  expect(judgeChange(null, before)).toEqual(['appeared']);
  expect(judgeChange(before, null)).toEqual(['gone']);
  expect(judgeChange(null, null)).toEqual([]);
});

test('another current snapshot among the same ones is a change', () => {
  const at = (current: string) =>
    toWatched({ ...properties, rootSnapshot: [ref('snapshot-1')], 'snapshot.currentSnapshot': ref(current) });
  expect(judgeChange(at('snapshot-1'), at('snapshot-2'))).toEqual(['snapshots']);
});

test('everything that is watched has a cause', () => {
  const everything = Object.fromEntries(watchedPaths.map((path) => [path, undefined]));
  expect(Object.values(toWatched(everything)).every((value) => value === '')).toBe(true);
});
