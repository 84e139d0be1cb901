import { type KindRow, modes } from '../../contracts/kinds/kind.ts';
import { type Kind, kinds, kindTable } from '../../contracts/kinds/table.ts';
import { z } from 'zod';

import type { EvictionSettings } from '../../contracts/eviction/eviction.ts';
import { agentPoolsConfig } from './agent-pools-config.ts';
import { dataVolumesConfig } from './data-volumes-config.ts';
import { hypervisorConfig } from './hypervisor-config.ts';
import { nodeFailureConfig } from './node-failure-config.ts';
import { machinesConfig } from './machines-config.ts';
import { count, dnsName, hour, minute, ms, optionalText, second, splitHostPort } from './setting-types.ts';
import { virtualMachineConfig } from './virtual-machine-config.ts';
import { vsphereConfig } from './vsphere-config.ts';

/**
 * drover's own settings: every field, its default and what is absurd. What OpenStack, Kubernetes and Temporal need to
 * be reached stands in their own files (clouds.yaml, kubeconfig, temporal.toml).
 */

const address = z
  .string()
  .refine((value) => typeof splitHostPort(value)?.port === 'number', 'expected host:port, such as 127.0.0.1:8081');

const eviction = z
  .strictObject({
    perSource: count(1, 64),
    perTarget: count(2, 64),
    maxAttempts: count(3, 20),
    retryDelayMs: ms(5 * second, { most: hour }),
    stuck: z
      .strictObject({
        msPerGiB: ms(150 * second, { most: hour }),
        floorMs: ms(300 * second),
        noProgressMs: ms(150 * second),
        startMs: ms(600 * second),
      })
      .prefault({}),
    poll: z
      .strictObject({
        minMs: ms(250, { least: 10, most: 5 * second }),
        // The wait heartbeats at each poll, and one heartbeat may be ten seconds late at most.
        maxMs: ms(2 * second, { least: 10, most: 5 * second }),
      })
      .prefault({})
      .refine(({ minMs, maxMs }) => minMs <= maxMs, { path: ['minMs'], error: 'expected at most poll.maxMs' }),
    instanceBusyMs: ms(300 * second),
    busyElsewhereMs: ms(30 * second),
    targetBusyMs: ms(600 * second),
    emptyRecheckMs: ms(10 * second),
    emptyDeadlineMs: ms(10 * minute),
    publishMinMs: ms(2 * second, { most: hour }),
    publishMaxMs: ms(60 * second, { most: hour }),
    allowanceRenewMs: ms(60 * second, { most: hour }),
    cancelGraceMs: ms(30 * minute),
    nodeReturnMs: ms(2 * hour),
    lingerMs: ms(2 * second, { least: 0, most: minute }),
  })
  .prefault({})
  .refine(({ publishMinMs, publishMaxMs }) => publishMinMs <= publishMaxMs, {
    path: ['publishMinMs'],
    error: 'expected at most publishMaxMs',
  })
  .refine(({ emptyRecheckMs, emptyDeadlineMs }) => emptyRecheckMs < emptyDeadlineMs, {
    path: ['emptyRecheckMs'],
    error: 'expected less than emptyDeadlineMs',
  });

const mode = z.enum(modes);
/** By kind; each has the default of its row. */
const modesOfKinds = Object.fromEntries(
  kinds.map((kind) => [kind, mode.default(kindTable[kind].mode.default)]),
) as Record<Kind, z.ZodDefault<typeof mode>>;

/** What a kind needs beside it, where it is on. */
const neededModes = kinds.flatMap((kind) => {
  const { needs }: KindRow['mode'] = kindTable[kind].mode;
  return needs === undefined ? [] : [{ kind, needs: needs.kind as Kind, why: needs.why }];
});

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];

export const configSchema = z
  .strictObject({
    cluster: z
      .union([z.literal(''), dnsName.max(63)], 'expected a name of lower-case letters, digits and -, or nothing')
      .default(''),
    modes: z
      .strictObject(modesOfKinds)
      .prefault({})
      .superRefine((given, context) => {
        for (const { kind, needs, why } of neededModes)
          if (given[kind] !== 'off' && given[needs] === 'off')
            context.addIssue({
              code: 'custom',
              path: [kind],
              message: `expected off while modes.${needs} is off: ${why}`,
            });
      }),
    openstack: z.strictObject({ cloud: optionalText, localDisks: z.boolean().default(false) }).prefault({}),
    kubernetes: z
      .strictObject({
        kubeconfig: optionalText,
        context: optionalText,
        migrationNamespace: dnsName.max(63).default('monsoon3'),
        systemNamespace: dnsName.max(63).default('drover-system'),
      })
      .prefault({}),
    eviction,
    hypervisor: hypervisorConfig,
    nodeFailure: nodeFailureConfig,
    virtualMachine: virtualMachineConfig,
    machines: machinesConfig,
    agentPools: agentPoolsConfig,
    dataVolumes: dataVolumesConfig,
    vsphere: vsphereConfig,
    limits: z
      .strictObject({
        migrationsPerRegion: count(8, 1_000),
        leastMigrationsPerRegion: count(4, 1_000),
        checkMs: ms(30 * second, { most: hour }),
        silentMs: ms(150 * second, { most: hour }),
      })
      .prefault({}),
    worker: z
      .strictObject({
        concurrency: z
          .strictObject({
            workflows: count(40, 1_000),
            drover: count(50, 10_000),
            kubernetes: count(50, 10_000),
            nova: count(100, 10_000),
            hosts: count(50, 10_000),
            vsphere: count(100, 10_000),
            machines: count(20, 10_000),
            agents: count(50, 10_000),
            volumes: count(100, 10_000),
          })
          .prefault({}),
        healthAddress: address.nullable().default(null),
      })
      .prefault({}),
    temporal: z.strictObject({ payloadKeys: optionalText }).prefault({}),
    bridge: z
      .strictObject({
        resyncMs: ms(minute),
        healthAddress: address.default('127.0.0.1:8081'),
        leaseName: dnsName.default('drover-bridge'),
      })
      .prefault({}),
    audit: z.strictObject({ file: optionalText }).prefault({}),
    logLevel: z.enum(logLevels).default('info'),
  })
  .refine(({ eviction: { allowanceRenewMs }, limits: { silentMs } }) => allowanceRenewMs < silentMs, {
    path: ['eviction', 'allowanceRenewMs'],
    error: 'expected less than limits.silentMs, or every eviction counts as silent',
  })
  .refine(({ modes: { Hypervisor }, nodeFailure }) => nodeFailure.mode === 'off' || Hypervisor === 'act', {
    path: ['nodeFailure', 'mode'],
    error:
      'expected off while modes.Hypervisor is not act: what handles failed nodes also brings them back into service',
  })
  .refine(({ hypervisor: { libvirt }, nodeFailure }) => nodeFailure.guestEvents === null || libvirt !== null, {
    path: ['nodeFailure', 'guestEvents'],
    error: 'expected hypervisor.libvirt beside it, which says how the libvirt of a host is reached',
  })
  // Without any, it may be that of GOVC_URL.
  .refine(
    ({ virtualMachine: { vcenter }, vsphere: { vcenters } }) =>
      vcenter === null || Object.keys(vcenters).length === 0 || Object.hasOwn(vcenters, vcenter),
    {
      path: ['virtualMachine', 'vcenter'],
      error: 'expected a name of vsphere.vcenters',
    },
  );

export type Config = z.infer<typeof configSchema>;

/** The settings of one run, fixed in it when it opens. */
export const evictionSettings = (config: Config, region: string): EvictionSettings => ({
  ...config.eviction,
  region,
  cluster: config.cluster,
});
