import { novaRefusal, placementRefusal, openScriptedOpenStack, wireServer, wireService, type ScriptedOpenStack } from '../../test/scripted-openstack.ts';
import type { Reply } from '../../test/scripted-service.ts';

const open: ScriptedOpenStack[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

const request = { instanceId: 's', sourceHost: 'node-1', targetHost: null, incident: 'i-1' };
const wireEvacuation = (id: number, status: string): object => ({ id, uuid: `m${id}`, instance_uuid: 's', migration_type: 'evacuation', status, source_compute: 'node-1', dest_compute: null, created_at: '2026-01-01T00:00:00' });

interface Evacuation {
  forcedDown?: boolean;
  /** Answer to the request, and what Nova made of it. */
  reply?: Reply;
  made?: object[];
  before?: object[];
  server?: object;
  details?: unknown;
  /** Answer to the claim; what the server has in Placement is never said otherwise. */
  claim?: Reply;
}

const allocations = { p1: { resources: { VCPU: 1, MEMORY_MB: 512 } } };

async function stage({ forcedDown = true, reply = { status: 200, headers: { 'x-openstack-request-id': 'req-1' }, text: '' }, made = [wireEvacuation(2, 'accepted')], before = [], server = {}, details, claim }: Evacuation): Promise<ScriptedOpenStack & { beats: unknown[] }> {
  let migrations = before;
  const beats: unknown[] = [];
  const opened = await openScriptedOpenStack(
    {
      'GET /os-services': () => ({ json: { services: [wireService({ state: 'down', forced_down: forcedDown })] } }),
      'GET /servers/s': () => ({ json: { server: wireServer('s', server) } }),
      'GET /os-migrations': () => ({ json: { migrations } }),
      'GET /allocations/s': () => ({ json: claim === undefined ? { allocations: {} } : { allocations, consumer_generation: 4, project_id: 'p', user_id: 'u' } }),
      'PUT /allocations/s': () => {
        // Whoever was first is about to be seen.
        if (typeof claim === 'object' && claim.status === 409) migrations = [...made, ...before];
        return claim ?? 'garbage';
      },
      'POST /servers/s/action': () => {
        migrations = [...made, ...before];
        return reply;
      },
    },
    { scope: { heartbeat: (beat) => void beats.push(beat), heartbeatDetails: details } },
  );
  open.push(opened);
  return { ...opened, beats };
}

test('asks once, remembers what was there before, and gives the record', async () => {
  const { activities, received, audited, beats } = await stage({ before: [wireEvacuation(1, 'error')] });
  await expect(activities.startEvacuation(request)).resolves.toMatchObject({ outcome: 'started', migration: { id: 2, type: 'evacuation' } });
  const [asked] = received().filter(({ method }) => method === 'POST');
  expect(asked).toMatchObject({ body: { evacuate: {} }, headers: { 'openstack-api-version': 'compute 2.94' } });
  expect(beats).toEqual([{ known: [1] }]);
  expect(audited).toMatchObject([{ action: 'startEvacuation', cause: 'incident i-1', object: 'server/s', requestId: 'req-1' }]);
});

test('whoever asks claims the server first, by what it has in Placement', async () => {
  const { activities, changes, received } = await stage({ claim: { status: 204, text: '' } });
  await expect(activities.startEvacuation(request)).resolves.toMatchObject({ outcome: 'started', migration: { id: 2 } });
  expect(changes()).toEqual(['PUT /allocations/s', 'POST /servers/s/action']);
  expect(received().find(({ method }) => method === 'PUT')?.body).toEqual({ allocations, consumer_generation: 4, project_id: 'p', user_id: 'u' });
});

test('who comes second does not ask Nova, which would take both, and finds the first one’s record', async () => {
  const { activities, changes } = await stage({ claim: placementRefusal(409, 'consumer generation conflict - expected 5 but got 4') });
  await expect(activities.startEvacuation(request)).resolves.toMatchObject({ outcome: 'started', migration: { id: 2 } });
  expect(changes()).toEqual(['PUT /allocations/s']);
});

test('allocations that Placement takes from nobody keep no server on a dead host', async () => {
  const { activities, changes } = await stage({ claim: placementRefusal(409, 'Unable to allocate inventory: over capacity'), reply: { status: 200, text: '' } });
  await expect(activities.startEvacuation(request)).resolves.toMatchObject({ outcome: 'started' });
  expect(changes()).toEqual(['PUT /allocations/s', 'POST /servers/s/action']);
});

test('without an answer to the claim nothing is asked', async () => {
  const { activities, changes } = await stage({ claim: 'cut' });
  await expect(activities.startEvacuation(request)).rejects.toMatchObject({ type: 'PlacementUnavailable' });
  expect(changes()).toEqual(['PUT /allocations/s']);
});

test('a second request finds the first one’s record', async () => {
  const { activities, changes } = await stage({});
  await activities.startEvacuation(request);
  await expect(activities.startEvacuation(request)).resolves.toMatchObject({ outcome: 'started', migration: { id: 2 } });
  expect(changes()).toHaveLength(1);
});

test('a host that is only down is not fenced', async () => {
  const { activities, changes } = await stage({ forcedDown: false });
  await expect(activities.startEvacuation(request)).rejects.toMatchObject({ type: 'HostNotFenced', nonRetryable: true });
  expect(changes()).toEqual([]);
});

test('an answer that is lost: the record that it led to is the answer', async () => {
  const { activities } = await stage({ reply: 'cut' });
  await expect(activities.startEvacuation(request)).resolves.toMatchObject({ outcome: 'started', migration: { id: 2 } });
});

test('a request that is lost: the failure, to be tried again', async () => {
  const { activities } = await stage({ reply: { status: 503, text: '' }, made: [] });
  await expect(activities.startEvacuation(request)).rejects.toMatchObject({ type: 'NovaUnavailable', nonRetryable: false });
});

test('after a crash, the record that was not there before is its own, though it is over', async () => {
  const { activities, changes } = await stage({ before: [wireEvacuation(2, 'error'), wireEvacuation(1, 'error')], server: { status: 'ERROR', 'OS-EXT-STS:vm_state': 'error' }, details: { known: [1] } });
  await expect(activities.startEvacuation(request)).resolves.toMatchObject({ outcome: 'started', migration: { id: 2, status: 'error' } });
  expect(changes()).toEqual([]);
});

const answers: [what: string, evacuation: Evacuation, outcome: object][] = [
  ['Nova thinks that the host is up', { reply: novaRefusal(400, 'Compute service of node-1 is still in use.') }, { outcome: 'refused', message: 'Compute service of node-1 is still in use.' }],
  ['the server’s state', { reply: novaRefusal(409, "Cannot 'evacuate' instance s while it is in vm_state paused") }, { outcome: 'refused', message: expect.stringMatching(/paused/u) }],
  ['a target that is not there', { reply: novaRefusal(404, 'Compute host node-9 not found.') }, { outcome: 'refused', message: 'Compute host node-9 not found.' }],
  ['the server is gone', { reply: novaRefusal(404, 'Instance s could not be found.') }, { outcome: 'changed', observation: { instance: null, migration: null } }],
  ['another request came first', { reply: novaRefusal(409, "Cannot 'evacuate' instance s while it is in task_state rebuilding") }, { outcome: 'started', migration: expect.objectContaining({ id: 2 }) }],
  ['it is elsewhere by now', { server: { 'OS-EXT-SRV-ATTR:host': 'node-2' } }, { outcome: 'changed', observation: { instance: expect.objectContaining({ host: 'node-2' }), migration: null } }],
];
test.each(answers)('%s', async (_, evacuation, outcome) => {
  const { activities } = await stage(evacuation);
  await expect(activities.startEvacuation(request)).resolves.toEqual(outcome);
});

test('waiting ends with the record, and with where the server is then', async () => {
  const { activities } = await stage({ before: [wireEvacuation(2, 'done')], server: { 'OS-EXT-SRV-ATTR:host': 'node-2' } });
  await expect(activities.awaitEvacuation({ instanceId: 's', sourceHost: 'node-1', migrationId: 2, deadlineMs: 60_000, poll: { minMs: 10, maxMs: 100 } })).resolves.toMatchObject({ status: 'done', stuck: null, message: null, observation: { instance: { host: 'node-2' } } });
});

test('one that does not end is given back at the deadline', async () => {
  const { activities } = await stage({ before: [wireEvacuation(2, 'pre-migrating')] });
  await expect(activities.awaitEvacuation({ instanceId: 's', sourceHost: 'node-1', migrationId: 2, deadlineMs: 5_000, poll: { minMs: 100, maxMs: 1_000 } })).resolves.toMatchObject({ status: 'stuck', stuck: 'TooLong' });
});

test('one that failed says why', async () => {
  const { activities } = await stage({ before: [wireEvacuation(2, 'error')], server: { status: 'ERROR', 'OS-EXT-STS:vm_state': 'error', fault: { message: 'No valid host was found.' } } });
  await expect(activities.awaitEvacuation({ instanceId: 's', sourceHost: 'node-1', migrationId: 2, deadlineMs: 5_000, poll: { minMs: 100, maxMs: 1_000 } })).resolves.toMatchObject({ status: 'error', message: 'No valid host was found.' });
});
