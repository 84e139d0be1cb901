import { join } from 'node:path';
import { REGION, writeCredentials } from '../openstack/credentials.ts';
import type { OpenStackHandle } from '../openstack/handle.ts';
import { defaultFleet, type FleetPlan } from '../openstack/host-profile.ts';
import { ensureOpenStackVenv, pythonEnvironment, pythonModule } from '../openstack/python.ts';
import { edgeServes, novaServes } from '../openstack/readiness.ts';
import { serviceNames, settingsFile, writeSettings } from '../openstack/settings.ts';
import { ensureTemplate } from '../openstack/template.ts';
import type { LabContext, Part } from '../part.ts';
import { ensurePrivateDirectory } from '../private-files.ts';

/** As `controlplane/stand_ins.py` makes it: UUID version 5 of image.lab.drover.dev. */
const IMAGE_ID = '1722a78c-78d2-50d2-8746-9c982755ee2f';
const AMPHORA_IMAGE_ID = '07441173-701d-598b-8641-2fb7b6fc7427';

export interface OpenStackOptions {
  /** Of a new lab, default node-1 to node-6; on data that is there the fleet is as the control port left it. */
  readonly hosts?: FleetPlan;
  /** Default 3600. */
  readonly tokenTtlSeconds?: number;
}

interface Built {
  readonly venv: string;
  readonly template: string;
}

/**
 * Keystone, Placement and Nova: their own code in two processes. `edge` holds Keystone, Placement and stand-ins for
 * Glance and Neutron; `nova` holds API, conductor, scheduler and one nova-compute per host. SQLite below.
 */
export function openStackPart(options: OpenStackOptions = {}): Part<OpenStackHandle, Built> {
  return {
    name: 'openstack',
    title: 'OpenStack (Keystone, Placement, Nova)',
    usually: { cold: '90 s', warm: '6 s' },

    async build(context) {
      const venv = await ensureOpenStackVenv(context);
      return { venv, template: await ensureTemplate(context, venv) };
    },

    start: (context, built) => start(context, built, options),

    describe: (handle) => ({
      urls: { Keystone: handle.authUrl, Nova: handle.computeUrl, Placement: handle.placementUrl },
      exports: { OS_CLIENT_CONFIG_FILE: handle.cloudsFile, OS_CLOUD: 'lab' },
    }),
  };
}

async function start(
  context: LabContext,
  { venv, template }: Built,
  options: OpenStackOptions,
): Promise<OpenStackHandle> {
  const { dir } = context;
  const ports = await context.ports(...serviceNames);
  const url = (service: (typeof serviceNames)[number]) => `http://127.0.0.1:${ports[service]}`;
  const settings = writeSettings({
    directory: dir,
    venv,
    ports,
    tokenTtlSeconds: options.tokenTtlSeconds ?? 3600,
    reportIntervalSeconds: 3,
    serviceDownSeconds: 12,
    hosts: options.hosts ?? defaultFleet,
  });
  const authUrl = `${url('keystone')}/v3`;
  const handle: OpenStackHandle = {
    dir,
    region: REGION,
    authUrl,
    computeUrl: `${url('nova')}/v2.1`,
    placementUrl: url('placement'),
    ...writeCredentials(settings, authUrl),
    controlUrl: url('control'),
    imageId: IMAGE_ID,
    amphoraImageId: AMPHORA_IMAGE_ID,
    journalDir: join(dir, 'journal'),
  };
  const env = pythonEnvironment(context);
  ensurePrivateDirectory(join(dir, 'log'));
  await context.exec({
    ...pythonModule(venv, 'prepare', settingsFile(dir), template),
    env,
    timeoutMs: 60_000,
    logFile: join(dir, 'log', 'prepare.log'),
  });
  // Side by side: importing Nova takes longer than starting Keystone, and Nova waits for it.
  await Promise.all([
    context.spawn({
      name: 'edge',
      ...pythonModule(venv, 'run_edge', settingsFile(dir)),
      env,
      ready: (signal) => edgeServes(handle, signal),
      readyTimeoutMs: 120_000,
    }),
    context.spawn({
      name: 'nova',
      ...pythonModule(venv, 'run_nova', settingsFile(dir)),
      env,
      ready: (signal) => novaServes(handle, signal),
      readyTimeoutMs: 180_000,
    }),
  ]);
  return handle;
}
