import { continueAsNew, isCancellation, setCurrentDetails, upsertMemo } from '@temporalio/workflow';
import {
  type ApiServerSafetyInput,
  type SafetyState,
  safetyMemo,
} from '../../contracts/machine-safety/api-server-safety.ts';
import { notKnownYet, readSafetyState } from '../../contracts/machine-safety/judge-api-servers.ts';
import type {
  ApiServerRound,
  ApiServerSafetyProgress,
  ApiServerSafetyResult,
} from '../../contracts/machine-safety/watch-api-servers.ts';
import { showAttributes } from '../lib/attributes.ts';
import { explain, invalidInput } from '../lib/failures.ts';
import { readCarried } from '../lib/input.ts';
import { apiServerProbe, machineReset } from '../lib/safety-activities.ts';
import { runRounds } from '../lib/system-workflow.ts';

/**
 * Knows whether Machines are frozen because an API server does not answer: a system workflow, with an activity of an
 * hour for each round. The newest state is in its memo, so that a run that is about to delete a VM reads it without a
 * worker. Started by workers, where the settings ask for it; it ends when they do not any more. While it is not open,
 * the state is unknown, and nothing is deleted: a worker starts it again within five minutes, and it thaws when all
 * servers have answered.
 *
 * @param carried what the run before knew, when it continues as new
 */
export async function watchApiServers(
  input: ApiServerSafetyInput,
  carried?: SafetyState,
): Promise<ApiServerSafetyResult> {
  const { namespace } = Object(input) as ApiServerSafetyInput;
  if (typeof namespace !== 'string' || namespace === '')
    throw invalidInput(
      'API-server safety is {"namespace": "my-namespace"}, the namespace of the Machines. Nothing was started.',
    );
  const before = readSafetyState(readCarried(carried));
  const progress: ApiServerSafetyProgress = {
    namespace,
    state: before ?? notKnownYet,
    lastRound: null,
    waitingFor: '',
  };
  const keep = (state: SafetyState): void => {
    progress.state = state;
    upsertMemo({ [safetyMemo]: state });
    showAttributes({ phase: state.frozen ? 'Frozen' : 'Thawed', reason: reasonOf(state) });
    setCurrentDetails(describe(state));
  };
  keep(progress.state);

  const reset = async (): Promise<void> => {
    try {
      await machineReset(`Let Machines of ${namespace} that are Unknown be Running again`).resetUnknownMachines({
        namespace,
      });
    } catch (error) {
      const reason = `All API servers answer again, but Machines that are Unknown could not be set to Running: ${explain(error).message}`;
      if (!isCancellation(error) && reason !== progress.state.reason) keep({ ...progress.state, reason });
      throw error;
    }
  };
  const execute = async (): Promise<ApiServerRound> => {
    const { frozen } = progress.state;
    const round = await apiServerProbe(
      `Probe API servers of ${namespace}${frozen ? ', where Machines are frozen' : ''}`,
    ).probeApiServers({ namespace, state: progress.state });
    const { wanted, state } = round;
    if (!wanted) return round;
    // First the Machines: a run that ends in between thaws nothing.
    if (frozen && !state.frozen) await reset();
    if (frozen === state.frozen) progress.state = state;
    else keep(state);
    return round;
  };
  const isWanted = await runRounds({
    progress,
    name: `API-server safety of ${namespace}`,
    execute,
    describe: ({ state }) => describe(state),
  });
  if (isWanted) return await continueAsNew<typeof watchApiServers>({ namespace }, progress.state);
  return { outcome: 'SwitchedOff', message: `modes.Machine is off, or machines.namespaces does not have ${namespace}` };
}

const reasonOf = ({ frozen, probedMs }: SafetyState): string =>
  frozen ? (probedMs === 0 ? 'NotKnownYet' : 'ApiServerUnreachable') : 'ApiServersReachable';

const describe = ({ frozen, reason }: SafetyState): string =>
  frozen
    ? `**Machines are frozen**: orphan VMs are not swept. ${reason}`
    : `Machines are not frozen.${reason === '' ? '' : ` ${reason}`}`;
