import { z } from 'zod';
import type { CrdBody } from './definition.ts';
import { customResource, int64, time } from './schema.ts';

const text = (description: string) => z.string().optional().describe(description);
const count = (description: string) => int64().optional().describe(description);

/**
 * Bytes are `"%.1f XiB"` (below 1024: `"N B"`), rates add `/s`, the dirty rate is in pages (`"N/s"`), throttles are
 * `"N%"` and durations are Go's (`"45.2s"`), as the node agent writes them.
 */
const statusSchema = z
  .object({
    origin: text('Host that the instance leaves.'),
    destination: text(
      'Host that it goes to. The node agent of the source writes its own name here until the instance has arrived.',
    ),
    type: text('bounded, unbounded, completed, failed, cancelled or success.'),
    operation: text(
      'unknown, start, save, restore, migration_in, migration_out, snapshot, snapshot_revert, dump, backup or snapshot_delete.',
    ),
    errMsg: text('What went wrong.'),
    started: time().describe('When it began.'),
    setupTime: text('Time spent on preparation.'),
    timeElapsed: text('Time since it began.'),
    timeRemaining: text('Estimate of the time that is left.'),
    downtime: text('Time for which the instance stands still.'),
    autoConvergeThrottle: text('How much the CPUs are slowed down so that the copy can catch up.'),
    dataTotal: text('Memory and disk to copy.'),
    dataProcessed: text('Memory and disk copied.'),
    dataRemaining: text('Memory and disk left to copy.'),
    diskTotal: text('Disk to copy.'),
    diskProcessed: text('Disk copied.'),
    diskRemaining: text('Disk left to copy.'),
    diskBps: text('Speed of the disk copy.'),
    memTotal: text('Memory to copy.'),
    memProcessed: text('Memory copied.'),
    memRemaining: text('Memory left to copy.'),
    memBps: text('Speed of the memory copy.'),
    memDirtyRate: text('Memory pages that the instance dirties.'),
    memPageSize: text('Size of a memory page.'),
    memNormalBytes: text('Memory sent as ordinary pages.'),
    memNormal: count('Ordinary pages sent.'),
    memConstant: count('Constant pages sent.'),
    memIteration: count('How often the memory has been gone through.'),
    memPostcopyRequests: count('Pages asked for by the target after the switch.'),
  })
  .describe('How far it has come.');

// `status` is not required although the node agent's own CRD says so: kube-apiserver drops it on create, and would
// refuse every object (kubernetes/kubernetes#129451; docs/compatibility.md#migration-object).
export const migrationSchema = customResource('kvm.cloud.sap/v1alpha1', 'Migration', {
  spec: z.object({}).describe('Empty.'),
  status: statusSchema.optional(),
});

/**
 * Shows how an instance moves from host to host; its name is the server's id. See
 * docs/compatibility.md#migration-object.
 */
export type Migration = z.output<typeof migrationSchema>;
export type MigrationStatus = NonNullable<Migration['status']>;

export const migrationCrd: CrdBody = {
  description: 'Shows how an instance moves from one hypervisor to another.',
  schema: migrationSchema,
  printColumns: [
    { name: 'Origin', type: 'string', jsonPath: '.status.origin' },
    { name: 'Destination', type: 'string', jsonPath: '.status.destination' },
    { name: 'Type', type: 'string', jsonPath: '.status.type' },
    { name: 'Operation', type: 'string', jsonPath: '.status.operation' },
    { name: 'Started', type: 'date', jsonPath: '.status.started' },
    { name: 'Elapsed', type: 'string', jsonPath: '.status.timeElapsed' },
    { name: 'Data Total', type: 'string', jsonPath: '.status.dataTotal' },
    { name: 'Data Processed', type: 'string', jsonPath: '.status.dataProcessed' },
    { name: 'Data Remaining', type: 'string', jsonPath: '.status.dataRemaining' },
    { name: 'Memory TX', type: 'string', jsonPath: '.status.memBps' },
    { name: 'Memory Dirty Rate', type: 'string', jsonPath: '.status.memDirtyRate' },
    { name: 'Memory Iteration', type: 'integer', jsonPath: '.status.memIteration' },
  ],
};
