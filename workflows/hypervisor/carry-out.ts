import type { NodeKey, ObjectKey } from '../../contracts/hypervisor/activities.ts';
import { hostCheck, hypervisorObjects, hypervisorRegion } from '../lib/hypervisor-activities.ts';
import type { HypervisorRun } from './run.ts';
import { recordCheck } from './run.ts';
import type { Step } from './step.ts';

/** How long the deletion of a test server may take. */
const testServerGoneMs = 120_000;

/** Takes one step: one call, with its words beside it in the Web UI. Fails as the call does. */
export async function carryOut(run: HypervisorRun, step: Step): Promise<void> {
  if (run.seen === null) throw new Error('planned before the first look');
  const { settings, desired } = run.seen;
  const self: ObjectKey = { name: run.name, uid: desired?.uid ?? '' };
  const objects = hypervisorObjects(step.words);
  const region = hypervisorRegion(settings.region, step.words);
  switch (step.do) {
    case 'createHypervisor':
      return await objects.createHypervisor(step.hypervisor);
    case 'patchHypervisor':
      return await objects.patchHypervisor({ ...self, generation: desired?.generation ?? 0, patches: step.patches });
    case 'createEviction':
      return await objects.createEviction(step.eviction);
    case 'setEvictionDeadline':
      return await objects.setEvictionDeadline({ name: step.name, uid: step.uid, deadline: step.deadline });
    case 'deleteEviction':
      return await objects.deleteEviction({ name: step.name, uid: step.uid });
    case 'taintNode':
      return await objects.taintNode(nodeOf(run, step.node));
    case 'untaintNode':
      return await objects.untaintNode(nodeOf(run, step.node));
    case 'ensureDrainGuard':
      return await objects.ensureDrainGuard({ ...nodeOf(run, step.node), guard: step.guard });
    case 'disableService':
      return void (await region.ensureServiceDisabled({ host: step.host, reason: step.reason }));
    case 'enableService':
      return void (await region.ensureServiceEnabled({ host: step.host, carrying: step.carrying }));
    case 'addToAggregates':
      return await region.addToAggregates({ host: step.host, aggregates: step.aggregates });
    case 'removeFromAggregates':
      return await region.removeFromAggregates({ host: step.host, aggregates: step.aggregates });
    case 'deleteTestServers':
      return void (await region.ensureSmokeServerGone({
        host: hostOf(run),
        ids: step.ids,
        deadlineMs: testServerGoneMs,
      }));
    case 'deleteService':
      return await region.ensureServiceDeleted({ host: step.host, serviceId: step.serviceId });
    case 'createTraits':
      return await region.createTraits({ traits: step.traits });
    case 'updateTraits':
      return await region.updateTraits({ providerId: step.providerId, add: step.add, remove: step.remove });
    case 'deleteProvider':
      return await region.ensureProviderGone({ providerId: step.providerId, consentBy: step.consentBy });
    case 'releaseAllocations':
      return await region.releaseAllocations({ providerId: step.providerId, consentBy: step.consentBy });
    case 'runCheck': {
      const found = await hostCheck(step.words).runHypervisorCheck({
        check: step.check,
        hypervisor: run.name,
        uid: self.uid,
      });
      run.state.tests = recordCheck(
        run.state.tests,
        { check: step.check, ...found, atMs: Date.now(), sinceMs: step.sinceMs },
        step.attempt,
      );
      return;
    }
  }
}

/** The Node that was seen: another one of that name is left alone. */
const nodeOf = ({ seen }: HypervisorRun, node: string): NodeKey => ({ node, uid: seen?.observed.node?.uid ?? '' });

/** Nova's name of the host; by the Hypervisor's where Nova has none. */
const hostOf = ({ seen, name }: HypervisorRun): string => seen?.observed.nova?.host ?? name;
