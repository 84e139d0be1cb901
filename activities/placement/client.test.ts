import { settingsFor, startScriptedService, tokenReply, type Received, type Reply, type ScriptedService } from '../../test/scripted-service.ts';
import { openSession } from '../keystone/client.ts';
import { createPlacementClient } from './client.ts';
import type { PlacementClient } from './types.ts';

const never = new AbortController().signal;
const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

async function stage(reply: Reply): Promise<{ placement: PlacementClient; asked: () => Received[] }> {
  const service: ScriptedService = await startScriptedService((request) =>
    request.path === '/v3/auth/tokens' ? tokenReply('t', { urls: { placement: `${service.url}/placement/` } }) : reply,
  );
  const session = openSession(settingsFor(service.url));
  open.push(service, session);
  return { placement: createPlacementClient(session), asked: () => service.received.slice(1) };
}

const nothing = { resource_providers: [], allocation_requests: [], provider_summaries: {} };

const queries: [what: string, ask: (placement: PlacementClient) => Promise<unknown>, url: string][] = [
  ['all providers', (placement) => placement.resourceProviders({}, never), '/resource_providers'],
  [
    'providers by everything',
    (placement) => placement.resourceProviders({ name: 'n', uuid: 'u', inTree: 't', resources: { VCPU: 1 }, required: ['A', 'B'], forbidden: ['C'], memberOf: [['x', 'y'], ['z']] }, never),
    '/resource_providers?name=n&uuid=u&in_tree=t&resources=VCPU:1&required=A,B,!C&member_of=in:x,y&member_of=in:z',
  ],
  [
    'candidates, without what is not wanted',
    (placement) => placement.allocationCandidates({ resources: { VCPU: 2, MEMORY_MB: 512, DISK_GB: 0 }, forbidden: ['COMPUTE_STATUS_DISABLED'], limit: 10 }, never),
    '/allocation_candidates?resources=VCPU:2,MEMORY_MB:512&required=!COMPUTE_STATUS_DISABLED&limit=10',
  ],
];
test.each(queries)('asks for %s', async (_, ask, url) => {
  const { placement, asked } = await stage({ json: nothing });
  await ask(placement);
  const [request] = asked();
  expect(decodeURIComponent(`${request?.path.replace('/placement', '')}${request?.query.size === 0 ? '' : `?${request?.query.toString()}`}`)).toBe(url);
  expect(request?.headers['openstack-api-version']).toBe('placement 1.39');
});

test('a provider that is not there: null where one looks for it, a failure where one asks about it', async () => {
  const missing: Reply = { status: 404, json: { errors: [{ status: 404, title: 'Not Found', detail: 'No resource provider with uuid x found', request_id: 'r' }] } };
  const { placement } = await stage(missing);
  await expect(placement.providerByUuid('x', never)).resolves.toBeNull();
  await expect(placement.providerAllocations('x', never)).rejects.toMatchObject({ type: 'HostNotFound', message: expect.stringMatching(/No resource provider with uuid x found/u) });
});

const failures: [what: string, reply: Reply, code: string][] = [
  ['a 404 that is not Placement’s', { status: 404, text: 'default backend' }, 'AnswerMalformed'],
  ['400', { status: 400, json: { errors: [{ status: 400, detail: 'No such trait(s): X.' }] } }, 'RequestRefused'],
  ['503', { status: 503, text: '' }, 'PlacementUnavailable'],
  ['another shape', { json: { allocations: [] } }, 'AnswerMalformed'],
  ['a cut', 'cut', 'PlacementUnavailable'],
];
test.each(failures)('%s is %s', async (_, reply, code) => {
  const { placement } = await stage(reply);
  await expect(placement.providerAllocations('x', never)).rejects.toMatchObject({ type: code });
});
