import { systemClock } from '../../runtime/clock.ts';
import {
  settingsFor,
  startScriptedService,
  tokenReply,
  type Received,
  type Reply,
  type ScriptedService,
} from '../../test/scripted-service.ts';
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
  const session = openSession(settingsFor(service.url), { clock: systemClock });
  open.push(service, session);
  return { placement: createPlacementClient(session), asked: () => service.received.slice(1) };
}

const nothing = { resource_providers: [], allocation_requests: [], provider_summaries: {} };

const queries: [what: string, ask: (placement: PlacementClient) => Promise<unknown>, url: string][] = [
  ['all providers', (placement) => placement.resourceProviders({}, never), '/resource_providers'],
  [
    'providers by everything',
    (placement) =>
      placement.resourceProviders(
        {
          name: 'n',
          uuid: 'u',
          inTree: 't',
          resources: { VCPU: 1 },
          required: ['A', 'B'],
          forbidden: ['C'],
          memberOf: [['x', 'y'], ['z']],
        },
        never,
      ),
    '/resource_providers?name=n&uuid=u&in_tree=t&resources=VCPU:1&required=A,B,!C&member_of=in:x,y&member_of=in:z',
  ],
  [
    'candidates, without what is not wanted',
    (placement) =>
      placement.allocationCandidates(
        { resources: { VCPU: 2, MEMORY_MB: 512, DISK_GB: 0 }, forbidden: ['COMPUTE_STATUS_DISABLED'], limit: 10 },
        never,
      ),
    '/allocation_candidates?resources=VCPU:2,MEMORY_MB:512&required=!COMPUTE_STATUS_DISABLED&limit=10',
  ],
];
test.each(queries)('asks for %s', async (_, ask, url) => {
  const { placement, asked } = await stage({ json: nothing });
  await ask(placement);
  const [request] = asked();
  expect(
    decodeURIComponent(
      `${request?.path.replace('/placement', '')}${request?.query.size === 0 ? '' : `?${request?.query.toString()}`}`,
    ),
  ).toBe(url);
  expect(request?.headers['openstack-api-version']).toBe('placement 1.39');
});

test('a provider that is not there: null where one looks for it, a failure where one asks about it', async () => {
  const missing: Reply = {
    status: 404,
    json: {
      errors: [{ status: 404, title: 'Not Found', detail: 'No resource provider with uuid x found', request_id: 'r' }],
    },
  };
  const { placement } = await stage(missing);
  await expect(placement.providerByUuid('x', never)).resolves.toBeNull();
  await expect(placement.providerAllocations('x', never)).rejects.toMatchObject({
    type: 'HostNotFound',
    message: expect.stringMatching(/No resource provider with uuid x found/u),
  });
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

const accepted: Reply = {
  headers: { 'x-openstack-request-id': 'req-7' },
  json: { traits: [], resource_provider_generation: 2 },
};
const changes: [what: string, change: (placement: PlacementClient) => Promise<{ requestId: string }>, sent: object][] =
  [
    [
      'createTrait',
      (placement) => placement.createTrait('CUSTOM_A', never),
      { method: 'PUT', path: '/placement/traits/CUSTOM_A', body: undefined },
    ],
    [
      'replaceTraits',
      (placement) => placement.replaceTraits('u', { generation: 1, traits: ['CUSTOM_A'] }, never),
      {
        method: 'PUT',
        path: '/placement/resource_providers/u/traits',
        body: { resource_provider_generation: 1, traits: ['CUSTOM_A'] },
      },
    ],
    [
      'rewriteConsumer',
      (placement) =>
        placement.rewriteConsumer(
          'c',
          { generation: 3, allocations: { u: { VCPU: 1 } }, projectId: 'p', userId: 'x' },
          never,
        ),
      {
        method: 'PUT',
        path: '/placement/allocations/c',
        body: { allocations: { u: { resources: { VCPU: 1 } } }, consumer_generation: 3, project_id: 'p', user_id: 'x' },
      },
    ],
    [
      'deleteProvider',
      (placement) => placement.deleteProvider('u', never),
      { method: 'DELETE', path: '/placement/resource_providers/u', body: undefined },
    ],
  ];
test.each(changes)('%s sends what Placement wants, and gives the request id back', async (_, change, sent) => {
  const { placement, asked } = await stage(accepted);
  await expect(change(placement)).resolves.toEqual({ requestId: 'req-7' });
  expect(asked()).toMatchObject([sent]);
});

test('traits with the generation that a change must name', async () => {
  const { placement } = await stage({ json: { traits: ['B', 'A'], resource_provider_generation: 7 } });
  await expect(placement.traitsWithGeneration('u', never)).resolves.toEqual({ generation: 7, traits: ['A', 'B'] });
});

test('a consumer with what a change of it must name; null of one that has nothing', async () => {
  const found = await stage({
    json: {
      allocations: { u: { generation: 9, resources: { VCPU: 1 } } },
      consumer_generation: 3,
      project_id: 'p',
      user_id: 'x',
    },
  });
  await expect(found.placement.consumer('c', never)).resolves.toEqual({
    generation: 3,
    allocations: { u: { VCPU: 1 } },
    projectId: 'p',
    userId: 'x',
  });
  expect(found.asked()[0]?.headers['openstack-api-version']).toBe('placement 1.37');
  await expect((await stage({ json: { allocations: {} } })).placement.consumer('c', never)).resolves.toBeNull();
});

test('whether no traits exist is not asked', async () => {
  const { placement, asked } = await stage({ json: { traits: ['CUSTOM_A'] } });
  await expect(placement.existingTraits([], never)).resolves.toEqual([]);
  await expect(placement.existingTraits(['CUSTOM_A', 'CUSTOM_B'], never)).resolves.toEqual(['CUSTOM_A']);
  expect(asked().map(({ query }) => query.toString())).toEqual(['name=in%3ACUSTOM_A%2CCUSTOM_B']);
});

const conflict: Reply = { status: 409, json: { errors: [{ status: 409, detail: 'conflict' }] } };
const refusedChanges: [
  what: string,
  reply: Reply,
  change: (placement: PlacementClient) => Promise<unknown>,
  code: string,
][] = [
  [
    'a generation that is old',
    conflict,
    (placement) => placement.replaceTraits('u', { generation: 1, traits: [] }, never),
    'ProviderConflict',
  ],
  [
    'a provider that another client changed at the same moment',
    {
      status: 500,
      json: {
        errors: [
          {
            status: 500,
            detail:
              'The server has either erred. Another thread concurrently updated the resource provider data. Please retry your update',
          },
        ],
      },
    },
    (placement) => placement.replaceTraits('u', { generation: 1, traits: [] }, never),
    'ProviderConflict',
  ],
  [
    'a consumer that was written since',
    { status: 409, json: { errors: [{ status: 409, detail: 'consumer generation conflict - expected 2 but got 1' }] } },
    (placement) =>
      placement.rewriteConsumer('c', { generation: 1, allocations: {}, projectId: 'p', userId: 'x' }, never),
    'ConsumerConflict',
  ],
  [
    'a provider that is too small for what the consumer has',
    { status: 409, json: { errors: [{ status: 409, detail: 'Unable to allocate inventory: over capacity' }] } },
    (placement) =>
      placement.rewriteConsumer('c', { generation: 1, allocations: {}, projectId: 'p', userId: 'x' }, never),
    'RequestRefused',
  ],
  ['a provider that is used', conflict, (placement) => placement.deleteProvider('u', never), 'ProviderInUse'],
  [
    'traits of a provider that is gone',
    { status: 404, json: { errors: [{ status: 404, detail: 'No resource provider' }] } },
    (placement) => placement.replaceTraits('u', { generation: 1, traits: [] }, never),
    'HostNotFound',
  ],
  [
    'a 404 that is not Placement’s',
    { status: 404, text: 'default backend' },
    (placement) => placement.deleteProvider('u', never),
    'AnswerMalformed',
  ],
  [
    'a trait that does not exist',
    { status: 400, json: { errors: [{ status: 400, detail: 'No such trait X' }] } },
    (placement) => placement.replaceTraits('u', { generation: 1, traits: ['X'] }, never),
    'RequestRefused',
  ],
];
test.each(refusedChanges)('%s', async (_, reply, change, code) => {
  const { placement } = await stage(reply);
  await expect(change(placement)).rejects.toMatchObject({ type: code });
});
