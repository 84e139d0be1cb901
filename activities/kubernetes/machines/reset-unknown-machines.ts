import pLimit from 'p-limit';
import { z } from 'zod';

import { machineKind } from '../../../contracts/kinds/machine.ts';
import type { ApiServerSafetyInput } from '../../../contracts/machine-safety/api-server-safety.ts';
import type { ResetMachines } from '../../../contracts/machine-safety/watch-api-servers.ts';
import { typed } from '../../../runtime/kubernetes/resources.ts';
import { retryConflicts } from '../../../runtime/kubernetes/retry-conflicts.ts';
import { mutate } from '../../lib/mutate.ts';
import { whileBeating } from '../../lib/wait.ts';
import { announce } from '../lib/write-event.ts';
import { type SafetyTools, isWatched } from './tools.ts';

/** No more of a Machine than is needed: one that is odd elsewhere must not keep all others frozen. */
const machines = typed(
  machineKind,
  z.object({
    metadata: z.object({
      namespace: z.string().optional(),
      name: z.string(),
      uid: z.string(),
      resourceVersion: z.string(),
    }),
    status: z
      .looseObject({
        currentStatus: z.looseObject({ phase: z.string().optional() }).optional(),
        lastOperation: z.looseObject({}).optional(),
      })
      .optional(),
  }),
);
type ListedMachine = z.output<typeof machines.schema>;

/** As the replaced manager writes it, word for word. */
const description = 'Machine Health Timeout was reset due to APIServer being unreachable';
const cause = 'their API servers answer again';
const writesAtOnce = 8;

const isUnknown = ({ status }: ListedMachine): boolean => status?.currentStatus?.phase === 'Unknown';

/**
 * Gives Machines that are Unknown as long as all others until they count as failed: nothing was known of their Nodes
 * while the API servers were away.
 *
 * @throws Stopped, KubernetesUnavailable, KubernetesForbidden: some may be reset, and a repeat resets the rest
 */
export async function resetUnknownMachines(
  tools: SafetyTools,
  { namespace }: ApiServerSafetyInput,
): Promise<ResetMachines> {
  const { control, scope, meter } = tools;
  if (tools.mode !== 'act' || !isWatched(tools, namespace)) {
    meter.hide(namespace);
    return { reset: 0 };
  }
  let reset = 0;
  meter.keepFrozen(namespace);
  const done = await whileBeating(
    tools,
    () => ({ reset }),
    async () => {
      const unknown = (await control.list(machines, { namespace }, scope.signal)).filter(isUnknown);
      const slots = pLimit(writesAtOnce);
      await Promise.all(
        unknown.map((machine) =>
          slots(async () => {
            if (await resetMachine(tools, { ...machine, metadata: { ...machine.metadata, namespace } })) reset += 1;
          }),
        ),
      );
      return { reset };
    },
  ).catch((error: unknown) => {
    // Anew, as the next attempt may be minutes away.
    meter.keepFrozen(namespace);
    throw error;
  });
  meter.hide(namespace);
  return done;
}

/** False: it is Unknown no more, or gone. */
async function resetMachine(tools: SafetyTools, listed: ListedMachine): Promise<boolean> {
  const { control, scope, clock } = tools;
  const { namespace, name, uid } = listed.metadata;
  let current: ListedMachine | null = listed;
  const isReset = await retryConflicts(async () => {
    current ??= await control.get(machines, { namespace, name }, scope.signal);
    const machine = current;
    // Another attempt reads it again.
    current = null;
    if (machine === null || machine.metadata.uid !== uid || !isUnknown(machine)) return false;
    const lastUpdateTime = new Date(clock.now()).toISOString().replace(/\.\d+Z$/u, 'Z');
    const status = {
      currentStatus: { phase: 'Running', timeoutActive: false, lastUpdateTime },
      lastOperation: { description, errorCode: null, lastUpdateTime, state: 'Successful', type: 'HealthCheck' },
    };
    const { currentStatus = null, lastOperation = null } = machine.status ?? {};
    const object = `machine/${namespace ?? ''}/${name}`;
    await mutate(
      tools,
      { action: 'resetUnknownMachines', cause, object, before: { currentStatus, lastOperation }, after: status },
      () => control.patchStatus(machines, machine.metadata, status, scope.signal),
    );
    return true;
  });
  if (isReset) await announceReset(tools, listed);
  return isReset;
}

async function announceReset(
  { control: client, scope, clock }: SafetyTools,
  { metadata }: ListedMachine,
): Promise<void> {
  const { namespace = '', name, uid, resourceVersion } = metadata;
  await announce(
    { client, scope, clock },
    {
      regarding: { kind: 'Machine', namespace, name, uid },
      type: 'Normal',
      reason: 'HealthTimeoutReset',
      message: `It was Unknown while API servers did not answer, and counts as Running again: ${cause}`,
    },
    [uid, 'HealthTimeoutReset', resourceVersion],
  );
}
