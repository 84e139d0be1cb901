import { randomBytes } from 'node:crypto';
import { Client, type Connection } from '@temporalio/client';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import proto from '@temporalio/proto';
import { createPayloadCodec } from './payload-codec.ts';
import { noPayloadKeys } from './payload-keys.ts';
import { readRuns } from './read-runs.ts';

const keys = { current: 'lost', keys: new Map([['lost', randomBytes(32)]]) };

/** A client whose Temporal has one run, which was terminated; its memo is encrypted, and some of it with a lost key. */
async function temporal() {
  const payload = (value: string): Payload => defaultPayloadConverter.toPayload(value);
  const [encrypted] = await createPayloadCodec(keys).encode([payload('jane')]);
  const { DescribeWorkflowExecutionResponse: Response } = proto.temporal.api.workflowservice.v1;
  const workflowExecutionInfo = {
    execution: { workflowId: 'eviction/node-1', runId: 'r' },
    type: { name: 'evictHypervisor' },
    status: 5,
    startTime: { seconds: 1 },
    historyLength: 3,
    memo: { fields: { startedBy: encrypted, plain: payload('read') } },
  };
  const workflowService = { describeWorkflowExecution: async () => Response.fromObject({ workflowExecutionInfo }) };
  return new Client({
    connection: { workflowService } as unknown as Connection,
    dataConverter: { payloadCodecs: [createPayloadCodec(noPayloadKeys)] },
  });
}

test('a run whose memo cannot be decoded is read all the same', async () => {
  const client = await temporal();
  await expect(client.workflow.getHandle('eviction/node-1').describe()).rejects.toMatchObject({
    type: 'PayloadKeyMissing',
  });
  const lost: unknown[] = [];
  const describe = (workflow: typeof client.workflow) => workflow.getHandle('eviction/node-1').describe();
  const run = await readRuns(client, describe, (error) => lost.push(error));
  expect(lost).toMatchObject([{ type: 'PayloadKeyMissing', message: expect.stringContaining('"lost"') }]);
  expect(run).toMatchObject({ runId: 'r', status: { name: 'TERMINATED' }, memo: { plain: 'read' } });
  expect(run.memo?.['startedBy']).toBeUndefined();
});

test('what else fails is not tried again', async () => {
  const client = await temporal();
  let reads = 0;
  const read = () => {
    reads += 1;
    return Promise.reject(new Error('away'));
  };
  await expect(readRuns(client, read)).rejects.toThrow('away');
  expect(reads).toBe(1);
});
