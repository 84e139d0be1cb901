import { z } from 'zod';

import { rbdPoolMs, smokeCleanUpMs } from '../../contracts/hypervisor/host-check.ts';
import type { HypervisorCheck, HypervisorSettings } from '../../contracts/hypervisor/hypervisor.ts';
import { dnsName, hour, minute, ms, optionalText, second, splitHostPort, text } from './setting-types.ts';

/**
 * The section `hypervisor` of drover's settings. A check of the Testing phase is made where its section is there: what
 * it needs cannot be guessed. Passwords stand in files, read when they are used.
 */

const template = text.refine(
  (value) => value.includes('{host}'),
  'expected {host} in it, which stands for the hypervisor',
);

const libvirt = z.strictObject({
  connectUri: template.default('qemu+tls://{host}/system'),
  tls: z.strictObject({ caFile: text, certFile: optionalText, keyFile: optionalText }).nullable().default(null),
  sasl: z.strictObject({ user: text, passwordFile: text }).nullable().default(null),
  minimumVersion: z
    .string()
    .regex(/^\d+(\.\d+){0,2}$/u, 'expected a version such as 9.0.0')
    .default('9.0.0'),
  kernelPath: optionalText,
});

const ovs = z.strictObject({
  remote: template.default('ssl:{host}:6640'),
  tls: z.strictObject({ caFile: text, certFile: text, keyFile: text }).nullable().default(null),
  bridges: z
    .strictObject({
      required: z.array(text).default(['br-int', 'br-ex']),
      optional: z.array(text).default(['br-provider']),
    })
    .prefault({}),
});

/** `192.0.2.1:6789`, `[2001:db8::1]:6789`, `mon.example:6789`; the port is that of protocol version 1. */
const monitor = z.string().transform((value, context) => {
  const parts = splitHostPort(value);
  if (parts === null || !/^[A-Za-z0-9._:-]+$/u.test(parts.host)) {
    context.addIssue({ code: 'custom', message: 'expected a monitor such as 192.0.2.1:6789' });
    return z.NEVER;
  }
  return { host: parts.host, port: parts.port ?? 6_789 };
});

const ceph = z.strictObject({
  dashboards: z.array(z.url({ protocol: /^https?$/u })).min(1),
  user: text,
  passwordFile: text,
  caFile: optionalText,
  pools: z.array(text).min(1),
  toleratedChecks: z.array(text).default([]),
  /** How the hypervisors reach Ceph: each lists the pools by its libvirt. Null: only Ceph itself is asked. */
  rbd: z
    .strictObject({
      monitors: z.array(monitor).min(1),
      /** Without `client.`. */
      user: text.regex(/^(?!client\.)/u, 'expected the name without client.').default('libvirt'),
      /** The user's key, as `ceph auth print-key` prints it; drover puts it into libvirt's memory for the check. */
      keyFile: optionalText,
      /** Or the UUID of the libvirt secret that the hosts have. */
      secretUuid: z.uuid().nullable().default(null),
    })
    .refine(
      ({ keyFile, secretUuid }) => keyFile === null || secretUuid === null,
      'expected keyFile or secretUuid, not both',
    )
    .nullable()
    .default(null),
});

const smoke = z.strictObject({
  flavorId: text,
  imageId: text,
  /** What its console must show: its own name, a text, or null: nothing. */
  console: z.union([z.literal('hostname'), z.strictObject({ text }), z.null()]).default(null),
  deadlineMs: ms(5 * minute, { most: hour }),
});

export const hypervisorConfig = z
  .strictObject({
    copiedLabels: z.array(text).default([]),
    testAggregate: text.default('tenant_filter_tests'),
    maxTestAttempts: z.int().min(1).max(100).default(5),
    testRetryDelayMs: ms(30 * second, { most: hour }),
    registrationMs: ms(30 * minute),
    recheckMs: ms(minute, { most: hour }),
    driftMs: ms(5 * minute, { least: second }),
    drainMs: ms(2 * hour),
    notReadyDrainMs: ms(5 * minute),
    guardsDrain: z.boolean().default(false),
    guardImage: text.default('busybox:1.37'),
    /** Where the agents run that have to leave a Node before its host is taken out of Nova; empty: anywhere. */
    agentNamespaces: z.array(dnsName.max(63)).default(['monsoon3']),
    /**
     * Of libvirt's TLS, one for each Node, where cert-manager is installed: where they are, and by which Issuer. Null:
     * drover makes none.
     */
    certificates: z
      .strictObject({
        namespace: dnsName.max(63).default('monsoon3'),
        issuer: dnsName.default('nova-hypervisor-agents-ca-issuer'),
      })
      .nullable()
      .prefault({}),
    lingerMs: ms(2 * second, { least: 0, most: minute }),
    publishMinMs: ms(2 * second, { least: 0, most: minute }),
    libvirt: libvirt.nullable().default(null),
    ovs: ovs.nullable().default(null),
    ceph: ceph.nullable().default(null),
    smoke: smoke.nullable().default(null),
  })
  .refine(({ ceph: section, libvirt: access }) => access !== null || (section?.rbd ?? null) === null, {
    path: ['ceph', 'rbd'],
    message: 'needs the section libvirt: the pools are listed by the hypervisors’ libvirt',
  })
  .prefault({});

export type HypervisorConfig = z.infer<typeof hypervisorConfig>;
export type LibvirtConfig = NonNullable<HypervisorConfig['libvirt']>;
export type CephConfig = NonNullable<HypervisorConfig['ceph']>;

/** The settings of one run, fixed when it observes: no names of files, no addresses. */
export function hypervisorSettings(
  config: HypervisorConfig,
  {
    handlesNodeFailure = false,
    ...given
  }: Pick<HypervisorSettings, 'region' | 'cluster' | 'mode'> & { handlesNodeFailure?: boolean },
): HypervisorSettings {
  const {
    copiedLabels,
    testAggregate,
    maxTestAttempts,
    testRetryDelayMs,
    registrationMs,
    recheckMs,
    drainMs,
    notReadyDrainMs,
    guardsDrain,
    lingerMs,
    publishMinMs,
  } = config;
  const checks = (['libvirt', 'ovs', 'ceph', 'smoke'] as const satisfies readonly HypervisorCheck[]).filter(
    (check) => config[check] !== null,
  );
  return {
    ...given,
    copiedLabels,
    checks,
    testAggregate,
    maxTestAttempts,
    checkMs: checkMsOf(config),
    testRetryDelayMs,
    registrationMs,
    recheckMs,
    drainMs,
    notReadyDrainMs,
    guardsDrain,
    lingerMs,
    publishMinMs,
    handlesNodeFailure,
  };
}

/** What a check asks before and after what it waits for: daemons that do not answer have time-outs of their own. */
const askingMs = 90_000;

/** Of the longest check: they are made at once. */
const checkMsOf = ({ ceph: section, smoke: server }: Pick<HypervisorConfig, 'ceph' | 'smoke'>): number =>
  askingMs +
  Math.max(
    30_000,
    server === null ? 0 : server.deadlineMs + smokeCleanUpMs,
    section === null || section.rbd === null ? 0 : section.pools.length * rbdPoolMs,
  );
