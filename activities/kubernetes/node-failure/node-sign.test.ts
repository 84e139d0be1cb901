import { nodeSchema } from '../hypervisor/node-schema.ts';
import { toNodeSign } from './node-sign.ts';

const node = (status?: object) =>
  nodeSchema.parse({
    metadata: { name: 'n', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
    ...(status === undefined ? {} : { status }),
  });

const rows: [why: string, status: object | undefined, sign: object][] = [
  [
    'all that is said',
    {
      nodeInfo: { bootID: 'b' },
      conditions: [
        { type: 'Ready', status: 'True' },
        { type: 'DiskPressure', status: 'True' },
        { type: 'MemoryPressure', status: 'False' },
      ],
    },
    { ready: 'True', bootId: 'b' },
  ],
  [
    'the kubelet says that it is not ready',
    { conditions: [{ type: 'Ready', status: 'False' }] },
    { ready: 'False', bootId: null },
  ],
  ['nothing is said', undefined, { ready: 'Unknown', bootId: null }],
  [
    'something else is said',
    { nodeInfo: { bootID: '' }, conditions: [{ type: 'Ready', status: 'Perhaps' }] },
    { ready: 'Unknown', bootId: null },
  ],
];
test.each(rows)('%s', (_why, status, sign) => {
  expect(toNodeSign(node(status))).toEqual(sign);
});
