import { hypervisorAnnotations } from '../../contracts/ids.ts';
import type { DesiredHypervisor } from '../../contracts/hypervisor/hypervisor.ts';
import type { Step } from './step.ts';

/** Notes that a retry was taken up, so that it is not taken up twice. */
export const acknowledgeRetry = ({ name }: Pick<DesiredHypervisor, 'name'>, retry: string): Step => ({
  do: 'patchHypervisor',
  patches: [{ annotations: { [hypervisorAnnotations.retryHandled]: retry } }],
  words: `Note that the retry of ${name} was taken up`,
});
