import { novaRefusal, openScriptedOpenStack, wireAggregate, type ScriptedOpenStack } from '../../test/scripted-openstack.ts';
import type { Reply } from '../../test/scripted-service.ts';
import { compareMemberships } from './ensure-in-aggregates.ts';
import type { Aggregate } from './types.ts';

const open: ScriptedOpenStack[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

const host = 'node-1';
const names = ['az-a', 'tests', 'fast', 'slow'];

/** Aggregates 0 to 3 by `names`; the host is in `hosts`. `answer` may refuse a change, and says whether it happened all the same. */
async function stage(hosts: readonly string[], answer: (name: string, action: string) => { reply: Reply; happened: boolean } | null = () => null) {
  const members = new Set(hosts);
  const change = (index: number) => (request: { body: unknown }): Reply => {
    const action = Object.keys(request.body as object)[0] ?? '';
    const name = names[index] ?? '';
    const given = answer(name, action);
    if (given?.happened ?? true) {
      if (action === 'add_host') members.add(name);
      else members.delete(name);
    }
    return given?.reply ?? { json: {} };
  };
  const opened = await openScriptedOpenStack({
    'GET /os-aggregates': () => ({ json: { aggregates: names.map((name, index) => wireAggregate(index, name, members.has(name) ? ['node-2', host] : ['node-2'], name === 'az-a' ? { availability_zone: 'a' } : {})) } }),
    ...Object.fromEntries(names.map((_, index) => [`POST /os-aggregates/${index}/action`, change(index)])),
  });
  open.push(opened);
  const changed = (): string[] => opened.received().filter(({ method }) => method === 'POST').map(({ path, body }) => `${Object.keys(body as object)[0]} ${names[Number(path.split('/')[2])]}`);
  return { ...opened, changed, members };
}

test('a host comes into what it should be in before it leaves the rest', async () => {
  const { activities, changed, audited } = await stage(['az-a', 'tests']);
  await expect(activities.ensureInAggregates({ host, names: ['az-a', 'fast'] })).resolves.toEqual([
    { name: 'az-a', uuid: 'uuid-0', metadata: { availability_zone: 'a' } },
    { name: 'fast', uuid: 'uuid-2', metadata: {} },
  ]);
  expect(changed()).toEqual(['add_host fast', 'remove_host tests']);
  expect(audited).toMatchObject([{ action: 'addToAggregate', object: 'aggregate/fast', before: { [host]: false }, after: { [host]: true } }, { action: 'removeFromAggregate', object: 'aggregate/tests' }]);
});

test('a host that is where it should be costs no change', async () => {
  const { activities, changed } = await stage(['az-a']);
  await activities.ensureInAggregates({ host, names: ['az-a'] });
  expect(changed()).toEqual([]);
});

test('it is in exactly the named ones, and in none where none are named', async () => {
  const { activities, members } = await stage(['az-a', 'fast', 'slow']);
  await activities.ensureInAggregates({ host, names: ['az-a', 'tests'] });
  expect([...members].toSorted()).toEqual(['az-a', 'tests']);
  await activities.ensureInAggregates({ host, names: ['tests'] });
  expect([...members]).toEqual(['tests']);
  await activities.ensureInAggregates({ host, names: [] });
  expect([...members]).toEqual([]);
});

test('all names without an aggregate are named, and nothing is done', async () => {
  const { activities, changed } = await stage(['tests']);
  await expect(activities.ensureInAggregates({ host, names: ['fast', 'gold', 'az-z'] })).rejects.toMatchObject({ type: 'AggregateNotFound', nonRetryable: true, message: expect.stringContaining('Nova has no aggregates gold, az-z') });
  await expect(activities.addToAggregates({ host, aggregates: [{ id: 8, name: 'gold' }, { id: 9, name: 'az-z' }] })).rejects.toMatchObject({ type: 'AggregateNotFound', message: expect.stringContaining('gold, az-z') });
  expect(changed()).toEqual([]);
});

const exists = novaRefusal(409, 'Aggregate 2 already has host node-1.');

test('two that add at once: the one that Nova refuses finds it done', async () => {
  const { activities, audited } = await stage(['tests'], (name) => (name === 'fast' ? { reply: exists, happened: true } : null));
  await expect(activities.ensureInAggregates({ host, names: ['fast'] })).resolves.toMatchObject([{ name: 'fast' }]);
  expect(audited.map(({ action }) => action)).toEqual(['removeFromAggregate']);
});

test('nothing is removed unless all was added; what can be added is', async () => {
  const zones = novaRefusal(409, "Cannot add host to aggregate 0. Reason: One or more hosts already in availability zone(s) ['b'].");
  const { activities, changed } = await stage(['tests'], (name) => (name === 'az-a' ? { reply: zones, happened: false } : null));
  await expect(activities.ensureInAggregates({ host, names: ['az-a', 'fast'] })).rejects.toMatchObject({ type: 'AggregateRefused', nonRetryable: true, message: expect.stringMatching(/already in availability zone/u) });
  expect(changed()).toEqual(['add_host az-a', 'add_host fast']);
});

test('several refusals are one failure; what cannot mend itself decides whether to try again', async () => {
  const replies: Record<string, Reply> = { fast: novaRefusal(409, 'A conflict was encountered attempting to update resource provider x'), slow: novaRefusal(409, 'no') };
  const { activities } = await stage(['fast', 'slow'], (name) => ({ reply: replies[name] ?? 'cut', happened: false }));
  await expect(activities.ensureInAggregates({ host, names: [] })).rejects.toMatchObject({ type: 'AggregateRefused', message: expect.stringMatching(/^fast: A conflict .*; slow: no\. /u) });
});

test('leaving an aggregate that somebody has just deleted is done', async () => {
  const { activities } = await stage(['fast'], () => ({ reply: novaRefusal(404, 'Cannot remove host node-1 in aggregate 2'), happened: true }));
  await expect(activities.ensureInAggregates({ host, names: [] })).resolves.toEqual([]);
  await expect(activities.removeFromAggregates({ host, aggregates: [{ id: 77, name: 'deleted' }] })).resolves.toBeUndefined();
});

const failures: [what: string, reply: Reply, code: string][] = [
  ['an answer that does not come', 'cut', 'NovaUnavailable'],
  ['a host that is not mapped to a cell', novaRefusal(404, "Host 'node-1' is not mapped to any cell"), 'HostNotFound'],
  ['503', { status: 503, text: '' }, 'NovaUnavailable'],
];
test.each(failures)('%s ends it at once', async (_, reply, code) => {
  const { activities, changed } = await stage(['tests'], () => ({ reply, happened: false }));
  await expect(activities.ensureInAggregates({ host, names: ['fast', 'slow'] })).rejects.toMatchObject({ type: code });
  expect(changed()).toEqual(['add_host fast']);
});

const aggregate = (id: number, name: string, hosts: string[]): Aggregate => ({ id, uuid: `u${id}`, name, hosts, metadata: {}, availabilityZone: null });
const known = [aggregate(1, 'a', [host]), aggregate(2, 'b', []), aggregate(3, 'c', ['node-10'])];
type Row = [wanted: string[], missing: string[], add: string[], remove: string[]];
const rows: Row[] = [
  [['a'], [], [], []],
  [['b'], [], ['b'], ['a']],
  [['a', 'c', 'c'], [], ['c'], []],
  [[], [], [], ['a']],
  [['x', 'a', 'x', 'y'], ['x', 'y'], [], []],
];
test.each(rows)('wanted %j', (wanted, missing, add, remove) => {
  const change = compareMemberships(known, host, wanted);
  expect([change.missing, change.add.map(({ name }) => name), change.remove.map(({ name }) => name)]).toEqual([missing, add, remove]);
});
