import type { Command } from 'commander';
import type { Consent } from '../../contracts/eviction/eviction.ts';
import { messages } from '../../contracts/messages.ts';
import { collectConsents, collectObstacles } from '../command/arguments.ts';
import { asOption, describedCommand, hostArgument } from '../command/command.ts';
import type { CommandContext } from '../command/context.ts';
import { usageError } from '../command/error.ts';
import { followSource } from './follow-source.ts';
import { commandRun } from '../command/give-command.ts';
import { interruptible } from '../command/interruption.ts';
import type { KubernetesAccess } from '../command/kubernetes-access.ts';
import { withKubernetes } from '../command/kubernetes-access.ts';
import { formatTime } from '../render/duration.ts';
import type { Revival } from './revive-eviction.ts';
import { consentAnnotations, lastEviction, reviveEviction } from './revive-eviction.ts';
import { signalChange } from './start-eviction.ts';
import { tellBeginning } from './tell-beginning.ts';
import type { TemporalAccess } from '../command/temporal-access.ts';
import { isRunning, withTemporal } from '../command/temporal-access.ts';
import { whoRuns } from '../command/who.ts';

export const acceptCommand = (context: CommandContext): Command =>
  describedCommand(
    'accept',
    'Accepts what stands in the way, with your name. An eviction that was refused for it is started again.',
    [
      ['drover accept node-1 LocalDisk/5f0a-…', 'one obstacle of one instance; `drover describe node-1` lists them'],
      ['drover accept node-1 NoTargets CapacityShort', 'obstacles of the host'],
      ['drover accept node-1 --consent cold-migrate', 'let drover stop instances that cannot move live'],
    ],
  )
    .addArgument(hostArgument())
    .argument('[obstacles...]', 'ids of obstacles', collectObstacles)
    .option('--consent <what>', 'cold-migrate, force-complete', collectConsents)
    .addOption(asOption())
    .action(
      (host: string, obstacles: string[] | undefined, { consent = [], as }: { consent?: Consent[]; as?: string }) => {
        const accept = obstacles ?? [];
        if (accept.length + consent.length === 0)
          throw usageError(
            'Say what you accept.',
            `\`drover describe ${host}\` lists the obstacles; --consent takes cold-migrate and force-complete.`,
          );
        return interruptible(context, (abort) =>
          withTemporal(context, abort, (temporal) =>
            withKubernetes(temporal, (kubernetes) =>
              acceptAll(temporal, kubernetes, host, { accept, consent, by: whoRuns(as, context.env) }),
            ),
          ),
        );
      },
    );

async function acceptAll(
  temporal: TemporalAccess,
  kubernetes: KubernetesAccess,
  host: string,
  revival: Revival,
): Promise<void> {
  if (await isRunning(temporal, host)) return await acceptInRun(temporal, kubernetes, host, revival);
  const { name } = await reviveEviction(temporal, kubernetes, host, revival);
  temporal.context.terminal.print(
    `Accepted ${[...revival.accept, ...revival.consent].join(', ')}, by ${revival.by}. Eviction ${name} of ${host} is tried again.`,
  );
  await tellBeginning(followSource(temporal, kubernetes, host), temporal, host);
}

/** Obstacles are the run's to know, consent is the Eviction's to record. */
async function acceptInRun(
  temporal: TemporalAccess,
  kubernetes: KubernetesAccess,
  host: string,
  { accept, consent, by }: Revival,
): Promise<void> {
  const { terminal, clock } = temporal.context;
  for (const obstacle of accept)
    terminal.print(await commandRun(temporal, host, messages.acceptObstacle, { obstacle, by }));
  if (consent.length === 0) return;
  const eviction = await lastEviction(kubernetes, host);
  const consented = consentAnnotations(eviction, { accept: [], consent, by }, formatTime(clock.now()));
  const changed = await kubernetes.annotate(eviction.name, consented);
  await signalChange(temporal, changed, 'annotations', by);
  terminal.print(`Eviction ${eviction.name} records the consent of ${by}: ${consent.join(', ')}.`);
}
