import { novaRefusal, openScriptedOpenStack, wireService, type Script, type ScriptedOpenStack } from '../../test/scripted-openstack.ts';
import type { Reply } from '../../test/scripted-service.ts';

const open: ScriptedOpenStack[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

async function stage(script: Script, change: Parameters<typeof openScriptedOpenStack>[1] = {}): Promise<ScriptedOpenStack> {
  const opened = await openScriptedOpenStack(script, change);
  open.push(opened);
  return opened;
}

/** A service that is `before` until the answer to a change, and `after` from then on. */
const changing = (before: object, after: object, reply: Reply | null = null): Script => {
  let changed = false;
  return {
    'GET /os-services': () => ({ json: { services: [wireService(changed ? after : before)] } }),
    'PUT /os-services/c1': () => {
      changed = true;
      return reply ?? { headers: { 'x-openstack-request-id': 'req-1' }, json: { service: wireService(after) } };
    },
  };
};

const ours = { status: 'disabled', disabled_reason: 'drover: eviction' };

test('two that disable at once: Nova refuses the second, which finds it done', async () => {
  const { activities, audited } = await stage(changing({}, ours, novaRefusal(400, "No updates were requested. Fields 'status' or 'forced_down' should be specified.")));
  await expect(activities.ensureServiceDisabled({ host: 'node-1', reason: 'drover: eviction' })).resolves.toMatchObject({ status: 'disabled', disabledReason: 'drover: eviction' });
  expect(audited).toEqual([]);
});

test('a conflict that leaves it as it was is tried again later', async () => {
  const { activities } = await stage(changing({}, {}, novaRefusal(409, 'conflict')));
  await expect(activities.ensureServiceDisabled({ host: 'node-1', reason: 'drover: eviction' })).rejects.toMatchObject({ type: 'ServiceConflict', nonRetryable: false });
});

type Enable = [what: string, before: object, request: { carrying?: string | null }, enabled: boolean, changes: number];
const enables: Enable[] = [
  ['one that is enabled is left', {}, {}, true, 0],
  ['drover’s own reason is lifted', ours, {}, true, 1],
  ['somebody else’s is not', { status: 'disabled', disabled_reason: 'CHG-1' }, {}, false, 0],
  ['none is not drover’s', { status: 'disabled', disabled_reason: null }, {}, false, 0],
  ['exactly the reason that the caller proved is lifted, whoever wrote it', { status: 'disabled', disabled_reason: 'CHG-1' }, { carrying: 'CHG-1' }, true, 1],
  ['none, where the caller proved that none is its own', { status: 'disabled', disabled_reason: null }, { carrying: null }, true, 1],
  ['another one than the caller proved is not, even drover’s', ours, { carrying: 'drover: maintenance' }, false, 0],
];
test.each(enables)('enabling: %s', async (_, before, request, enabled, changes) => {
  const stageOf = await stage(changing(before, {}));
  await expect(stageOf.activities.ensureServiceEnabled({ host: 'node-1', ...request })).resolves.toBe(enabled);
  expect(stageOf.changes()).toHaveLength(changes);
  expect(stageOf.audited).toHaveLength(changes);
});

const proof = { incident: 'i-1', by: 'power-off' as const, witness: 'bmc-1', at: '2026-01-01T00:00:00Z' };

test('forcing down sends it once, and writes down whose word it was', async () => {
  const { activities, changes, received, audited } = await stage(changing({}, { forced_down: true, state: 'down' }));
  const request = { host: 'node-1', forcedDown: true, proof };
  await expect(activities.ensureForcedDown(request)).resolves.toMatchObject({ forcedDown: true, state: 'down' });
  await activities.ensureForcedDown(request);
  expect(changes()).toEqual(['PUT /os-services/c1']);
  expect(received().find(({ method }) => method === 'PUT')?.body).toEqual({ forced_down: true });
  expect(audited).toMatchObject([{ action: 'ensureForcedDown', cause: 'incident i-1: power-off, bmc-1 at 2026-01-01T00:00:00Z', object: 'compute-service/node-1', before: { forcedDown: false }, after: { forcedDown: true }, requestId: 'req-1' }]);
});

test('a lost answer converges: the next attempt finds it forced down', async () => {
  const { activities, changes } = await stage(changing({}, { forced_down: true, state: 'down' }, 'cut'));
  const request = { host: 'node-1', forcedDown: true, proof };
  await expect(activities.ensureForcedDown(request)).rejects.toMatchObject({ type: 'NovaUnavailable', nonRetryable: false });
  await expect(activities.ensureForcedDown(request)).resolves.toMatchObject({ forcedDown: true });
  expect(changes()).toHaveLength(1);
});

test('a host whose nova-compute has not dropped its evacuated guests is not forced up', async () => {
  const refusal = novaRefusal(400, 'Unable to force up host node-1 as `done` evacuation migration records remain associated with the host.');
  const { activities } = await stage(changing({ forced_down: true, state: 'down' }, { forced_down: true, state: 'down' }, refusal));
  await expect(activities.ensureForcedDown({ host: 'node-1', forcedDown: false, proof: { ...proof, by: 'restart' } })).rejects.toMatchObject({ type: 'EvacuationsUnsettled', nonRetryable: true });
});

test('nothing is changed while drover is stopped', async () => {
  const { activities, changes } = await stage(changing({}, { forced_down: true }), {
    stopped: () => {
      throw new Error('stopped');
    },
  });
  await expect(activities.ensureForcedDown({ host: 'node-1', forcedDown: true, proof })).rejects.toThrow('stopped');
  expect(changes()).toEqual([]);
});

test('a proof that proves nothing changes nothing', async () => {
  const { activities, changes } = await stage(changing({}, { forced_down: true }));
  await expect(activities.ensureForcedDown({ host: 'node-1', forcedDown: true, proof: { ...proof, by: 'person' } })).rejects.toMatchObject({ type: 'HostUp' });
  expect(changes()).toEqual([]);
});

const down = { status: 'disabled', state: 'down' };
const listed = (change: object): Script => ({ 'GET /os-services': () => ({ json: { services: [wireService(change)] } }) });
const empty: Script = { 'GET /servers/detail': () => ({ json: { servers: [] } }), 'GET /os-server-groups': () => ({ json: { server_groups: [] } }) };

test('a service is deleted once, and a second request finds it gone', async () => {
  let there = true;
  const { activities, changes, audited } = await stage({
    ...empty,
    'GET /os-services': () => ({ json: { services: there ? [wireService(down)] : [] } }),
    'DELETE /os-services/c1': () => {
      there = false;
      return { status: 204, text: '' };
    },
  });
  await activities.ensureServiceDeleted({ host: 'node-1', serviceId: 'c1' });
  await activities.ensureServiceDeleted({ host: 'node-1', serviceId: 'c1' });
  expect(changes()).toEqual(['DELETE /os-services/c1']);
  expect(audited).toMatchObject([{ action: 'ensureServiceDeleted', object: 'compute-service/node-1', before: { serviceId: 'c1', status: 'disabled' }, after: null }]);
});

test('two that delete at once: the one that Nova answers 500 finds it gone', async () => {
  let there = true;
  const { activities, audited } = await stage({
    ...empty,
    'GET /os-services': () => ({ json: { services: there ? [wireService(down)] : [] } }),
    'DELETE /os-services/c1': () => {
      there = false;
      return { status: 500, text: '' };
    },
  });
  await activities.ensureServiceDeleted({ host: 'node-1', serviceId: 'c1' });
  expect(audited).toEqual([]);
});

test('two that delete at once: one finds it gone while it looks for servers', async () => {
  let looks = 0;
  const { activities, changes } = await stage({ ...empty, 'GET /os-services': () => ({ json: { services: (looks += 1) === 1 ? [wireService(down)] : [] } }) });
  await activities.ensureServiceDeleted({ host: 'node-1', serviceId: 'c1' });
  expect(changes()).toEqual([]);
});

test('a deletion that Nova could not do is a failure to be tried again', async () => {
  const { activities } = await stage({ ...empty, ...listed(down), 'DELETE /os-services/c1': () => ({ status: 500, text: '' }) });
  await expect(activities.ensureServiceDeleted({ host: 'node-1', serviceId: 'c1' })).rejects.toMatchObject({ type: 'NovaUnavailable', nonRetryable: false });
});

type Refusal = [what: string, script: Script, code: string, words: RegExp];
const servers: Script = { ...empty, 'GET /servers/detail': () => ({ json: { servers: [{ id: 'a', name: 'a', status: 'SHUTOFF', 'OS-EXT-SRV-ATTR:host': 'node-1', 'OS-EXT-STS:vm_state': 'stopped', locked: false, flavor: { original_name: 'm', vcpus: 1, ram: 1, disk: 0, ephemeral: 0, swap: 0 } }] } }) };
const refusals: Refusal[] = [
  ['with servers', { ...servers, ...listed(down) }, 'HostNotEmpty', /1 server is on node-1: a\. /u],
  ['that is enabled', { ...empty, ...listed({ state: 'down' }) }, 'HostEnabled', /node-1 is enabled/u],
  ['that is up', { ...empty, ...listed({ status: 'disabled' }) }, 'HostUp', /nova-compute on node-1 is running/u],
  ['of another host', { ...empty, ...listed({ ...down, host: 'node-9' }) }, 'HostNotFound', /node-9’s, not node-1’s/u],
  ['whose cell is down', { ...empty, 'GET /os-services': () => ({ json: { services: [{ binary: 'nova-compute', host: 'node-1', status: 'UNKNOWN' }] } }) }, 'HostAttributeMissing', /cell of host node-1 is down/u],
  ['with migrations in progress, as Nova says', { ...empty, ...listed(down), 'DELETE /os-services/c1': () => novaRefusal(409, 'Unable to delete compute service that has in-progress migrations.') }, 'HostNotEmpty', /in-progress migrations/u],
];
test.each(refusals)('a service %s is not deleted', async (_, script, code, words) => {
  const { activities, audited } = await stage(script);
  await expect(activities.ensureServiceDeleted({ host: 'node-1', serviceId: 'c1' })).rejects.toMatchObject({ type: code, nonRetryable: true, message: expect.stringMatching(words) });
  expect(audited).toEqual([]);
});

test('a service that has registered since under the same name is left alone', async () => {
  const { activities, changes } = await stage({ ...empty, ...listed({ ...down, id: 'c2' }) });
  await activities.ensureServiceDeleted({ host: 'node-1', serviceId: 'c1' });
  expect(changes()).toEqual([]);
});
