import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { LabContext } from '../part.ts';
import { ensurePrivateDirectory, writePrivateJson } from '../private-files.ts';
import { cacheLog } from '../python.ts';
import { lockFile, pythonEnvironment, pythonModule, sourceFolder } from './python.ts';
import { makeSecrets, type Ports, serviceNames, type Settings, settingsFile } from './settings.ts';

/** The modules of `controlplane` that decide what is in the template. */
const MODULES = ['template', 'seed_identity', 'seed_flavors', 'config', 'settings', 'keys'];

/** Only written into the template, never listened on; `controlplane/prepare.py` puts the lab's own in their place. */
const PLACEHOLDER_PORTS = Object.fromEntries(serviceNames.map((name, index) => [name, index + 1])) as Ports;

/** The folder in the cache with databases that have upstream's full schema, the cells, identities and flavors. */
export async function ensureTemplate(context: LabContext, venv: string): Promise<string> {
  const hash = createHash('sha256');
  for (const file of [
    lockFile(context),
    ...MODULES.map((name) => join(sourceFolder(context), 'controlplane', `${name}.py`)),
  ]) {
    hash.update(readFileSync(file)).update('\0');
  }
  const name = `openstack-template-${hash.digest('hex').slice(0, 16)}`;
  const template = join(context.cacheDir, name);
  if (existsSync(template)) return template;
  return context.withLock(name, async () => {
    if (existsSync(template)) return template;
    const unfinished = `${template}.tmp`;
    rmSync(unfinished, { recursive: true, force: true });
    ensurePrivateDirectory(unfinished);
    await buildTemplate(context, venv, unfinished);
    for (const leftover of ['etc', 'keys', 'state', 'locks', 'settings.json'])
      rmSync(join(unfinished, leftover), { recursive: true, force: true });
    renameSync(unfinished, template);
    return template;
  });
}

async function buildTemplate(context: LabContext, venv: string, directory: string): Promise<void> {
  const settings: Settings = {
    directory,
    venv,
    ports: PLACEHOLDER_PORTS,
    secrets: makeSecrets(),
    tokenTtlSeconds: 3600,
    reportIntervalSeconds: 3,
    serviceDownSeconds: 12,
    hosts: {},
  };
  writePrivateJson(settingsFile(directory), settings);
  const logFile = cacheLog(context, 'openstack-template');
  await context.step(`making the databases of Keystone, Placement and Nova, log in ${logFile}`, '15 s', () =>
    context.exec({
      ...pythonModule(venv, 'template', settingsFile(directory)),
      env: pythonEnvironment(context),
      timeoutMs: 600_000,
      logFile,
    }),
  );
}
