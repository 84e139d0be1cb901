import type { Mode } from '../../contracts/kinds/kind.ts';
import { guardNamespace, guardPrefix } from '../../contracts/hypervisor/drain-guard.ts';
import { fencedReasonPrefix } from '../../contracts/ids.ts';
import type { HypervisorConfig } from '../../runtime/config/hypervisor-config.ts';
import { isFailure } from '../../runtime/kubernetes/kubernetes-faults.ts';
import type { Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { openObjects } from '../../runtime/kubernetes/objects.ts';
import { shownHypervisors } from '../hypervisor/hypervisor-objects.ts';
import { guardKinds, guardsLeft } from '../hypervisor/leftovers.ts';
import type { Finding } from './finding.ts';
import { ok, warn } from './finding.ts';

/**
 * What the replaced operator leaves behind when it is switched off, and which checks stand between a host
 * and its guests.
 */

const adoption = '`drover hosts --adopt` shows it, and takes it back with --consent.';

/** How many a finding names. */
const mostNamed = 5;
const named = (names: readonly string[]): string =>
  `${names.slice(0, mostNamed).join(', ')}${names.length > mostNamed ? `, and ${String(names.length - mostNamed)} more` : ''}`;

export async function checkGuardsLeft(
  kubernetes: Kubernetes,
  guardsDrain: boolean,
  signal: AbortSignal,
): Promise<Finding> {
  const check = 'drain guards of the replaced operator';
  const objects = openObjects(kubernetes);
  try {
    const hypervisors = await objects.listValid(shownHypervisors, {}, signal);
    const found = await Promise.all(
      guardKinds.map(async (kind) =>
        guardsLeft(
          kind,
          await objects.listValid(kind, { namespace: guardNamespace }, signal),
          hypervisors,
          guardsDrain,
        ),
      ),
    );
    return judgeGuardsLeft(check, [...new Set(found.flat().map(({ node }) => node))].toSorted());
  } catch (error) {
    if (!isFailure(error, 'KubernetesForbidden')) throw error;
    return warn(
      check,
      `whether it has left any cannot be seen: PodDisruptionBudgets and Deployments in ${guardNamespace} may not be listed`,
      `Check it yourself: kubectl get pdb,deployment -n ${guardNamespace} | grep ${guardPrefix}`,
    );
  }
}

export const judgeGuardsLeft = (check: string, nodes: readonly string[]): Finding =>
  nodes.length === 0
    ? ok(check, 'none is left')
    : warn(check, `they hold the drains of ${String(nodes.length)} Nodes back for ever: ${named(nodes)}`, adoption);

/** Pure. */
export function judgeForcedDown(
  services: readonly { host: string; forcedDown: boolean; disabledReason: string | null }[],
): Finding {
  const check = 'hosts that Nova has forced down';
  const others = services
    .filter(({ forcedDown, disabledReason }) => forcedDown && !disabledReason?.startsWith(fencedReasonPrefix))
    .map(({ host }) => host)
    .toSorted();
  if (others.length === 0) return ok(check, 'none but those that drover has fenced');
  return warn(
    check,
    `${String(others.length)} that drover has not fenced, which stay out of service: ${named(others)}`,
    adoption,
  );
}

/** Whether anything is tested before guests come. Pure. */
export function judgeChecks(
  { libvirt, ovs, ceph, smoke }: Pick<HypervisorConfig, 'libvirt' | 'ovs' | 'ceph' | 'smoke'>,
  mode: Mode,
): Finding[] {
  if (mode === 'off') return [];
  const check = 'checks of hypervisors';
  const made = Object.entries({ libvirt, ovs, ceph, smoke }).flatMap(([name, section]) =>
    section === null ? [] : [name],
  );
  if (made.length === 0)
    return [
      warn(
        check,
        'none is configured: hosts go into service untested',
        'Set hypervisor.smoke (flavorId and imageId: a server is started on each host), and hypervisor.libvirt, ovs and ceph (docs/hypervisor-checks.md).',
      ),
    ];
  if (smoke === null)
    return [
      warn(
        check,
        `${made.join(', ')}; no server is started on a host before guests are`,
        'Set flavorId and imageId in hypervisor.smoke (docs/hypervisor-checks.md).',
      ),
    ];
  return [ok(check, made.join(', '))];
}
