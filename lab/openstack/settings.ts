import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { readJsonIfThere, writePrivateJson } from '../private-files.ts';
import type { FleetPlan } from './host-profile.ts';

/** In this order in the reference and in `controlplane/settings.py`. */
export const serviceNames = ['keystone', 'placement', 'nova', 'glance', 'neutron', 'control'] as const;
export type ServiceName = (typeof serviceNames)[number];
export type Ports = Readonly<Record<ServiceName, number>>;

/** Random per lab and kept as long as its data. */
export interface Secrets {
  readonly adminPassword: string;
  readonly droverPassword: string;
  readonly memberPassword: string;
  readonly servicePassword: string;
  readonly applicationCredentialId: string;
  readonly applicationCredentialSecret: string;
  readonly controlToken: string;
}

/** The file that the Python side reads; `controlplane/settings.py` names the same fields. */
export interface Settings {
  readonly directory: string;
  readonly venv: string;
  readonly ports: Ports;
  readonly secrets: Secrets;
  readonly tokenTtlSeconds: number;
  readonly reportIntervalSeconds: number;
  readonly serviceDownSeconds: number;
  /** Of a new lab; after that the control port's changes count. */
  readonly hosts: FleetPlan;
}

export const settingsFile = (dir: string) => join(dir, 'settings.json');

/** Writes the settings (mode 0600) with the secrets the directory has, or new ones. */
export function writeSettings(settings: Omit<Settings, 'secrets'>): Settings {
  const file = settingsFile(settings.directory);
  const earlier = readJsonIfThere(file) as Settings | undefined;
  const complete = { ...settings, secrets: earlier?.secrets ?? makeSecrets() };
  writePrivateJson(file, complete);
  return complete;
}

export function makeSecrets(): Secrets {
  const secret = () => randomBytes(24).toString('base64url');
  return {
    adminPassword: secret(),
    droverPassword: secret(),
    memberPassword: secret(),
    servicePassword: secret(),
    applicationCredentialId: randomBytes(16).toString('hex'),
    applicationCredentialSecret: secret(),
    controlToken: secret(),
  };
}
