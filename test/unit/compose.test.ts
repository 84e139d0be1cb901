import { readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { searchAttributes } from '../../contracts/search-attributes.ts';

const checkout = resolve(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(join(checkout, file), 'utf8');

/** `5s`, `1m30s`: a duration of the Compose specification. */
const duration = z.string().regex(/^(\d+(us|ms|s|m|h))+$/u);
const image = z
  .string()
  .regex(/^[a-z0-9./-]+:[\w.-]+$/u, 'an image needs a tag')
  .refine((name) => !name.endsWith(':latest'), 'an image needs a tag that stays what it is');
/** Reachable from this machine only. */
const loopbackPort = z.string().regex(/^127\.0\.0\.1:\d{2,5}:\d{2,5}$/u, 'bind to 127.0.0.1');

/** As `SOURCE:TARGET[:ro]`, also where it is written out. */
const mount = z.union([
  z.string().regex(/^[^:]+:\/[^:]+(:ro)?$/u),
  z
    .strictObject({
      type: z.literal('bind'),
      source: z.string(),
      target: z.string().startsWith('/'),
      read_only: z.literal(true),
      bind: z.strictObject({ create_host_path: z.literal(false) }),
    })
    .transform(({ source, target }) => `${source}:${target}:ro`),
]);

const service = z
  .strictObject({
    image,
    build: z.string().optional(),
    user: z
      .string()
      .regex(/^\$\{DROVER_UID:-[1-9]\d*:[1-9]\d*\}$/u)
      .optional(),
    restart: z.string().regex(/^(no|always|unless-stopped|on-failure(:\d+)?)$/u),
    depends_on: z
      .record(
        z.string(),
        z.strictObject({ condition: z.enum(['service_started', 'service_healthy', 'service_completed_successfully']) }),
      )
      .optional(),
    environment: z.record(z.string(), z.string()).optional(),
    entrypoint: z.array(z.string()).optional(),
    command: z.array(z.string()).optional(),
    ports: z.array(loopbackPort).optional(),
    volumes: z.array(mount).optional(),
    healthcheck: z
      .strictObject({
        test: z.tuple([z.enum(['CMD', 'CMD-SHELL'])], z.string()),
        interval: duration,
        timeout: duration,
        retries: z.int().min(1),
      })
      .optional(),
  })
  .refine(
    ({ command, build }) => build === undefined || (command?.length ?? 0) > 0,
    'an image of our own has a command',
  );

/**
 * What docker-compose.yml uses of the Compose specification, and no more: a field that is spelled otherwise is refused
 * here, as `docker compose config` does.
 */
const composeFile = z.strictObject({
  name: z.string(),
  services: z.record(z.string(), service),
  volumes: z.record(z.string(), z.strictObject({})),
});

/** Extension fields (`x-…`) are where anchors live; the specification ignores them. */
function readCompose(): z.infer<typeof composeFile> {
  const document = parse(read('docker-compose.yml'), { merge: true }) as object;
  return composeFile.parse(Object.fromEntries(Object.entries(document).filter(([key]) => !key.startsWith('x-'))));
}

describe('docker-compose.yml', () => {
  const { services, volumes } = readCompose();
  const all = Object.entries(services);

  test('waits only for services that can fulfil the condition', () => {
    for (const [name, { depends_on = {} }] of all) {
      for (const [other, { condition }] of Object.entries(depends_on)) {
        const waitedFor = services[other];
        expect([name, other, waitedFor === undefined ? 'is missing' : 'is there']).toEqual([name, other, 'is there']);
        if (condition === 'service_healthy') expect([other, waitedFor?.healthcheck]).not.toEqual([other, undefined]);
        // One that is started again and again never counts as completed.
        if (condition === 'service_completed_successfully') expect([other, waitedFor?.restart]).toEqual([other, 'no']);
      }
    }
  });

  test('has no circle of waits', () => {
    const reaches = (from: string, to: string, path: readonly string[] = []): boolean =>
      Object.keys(services[from]?.depends_on ?? {}).some(
        (next) => next === to || (!path.includes(next) && reaches(next, to, [...path, next])),
      );
    expect(all.map(([name]) => name).filter((name) => reaches(name, name))).toEqual([]);
  });

  test('declares every volume that it names, and uses every one it declares', () => {
    const named = all
      .flatMap(([, { volumes: mounts = [] }]) => mounts.map((mount) => mount.split(':')[0] ?? ''))
      .filter((source) => !source.startsWith('.'));
    expect([...new Set(named)].sort()).toEqual(Object.keys(volumes).sort());
  });

  test('mounts the user’s files read-only', () => {
    const own = all.flatMap(([, { volumes: mounts = [] }]) => mounts).filter((mount) => mount.startsWith('.'));
    expect(own.length).toBeGreaterThan(0);
    expect(own.filter((mount) => !mount.endsWith(':ro'))).toEqual([]);
  });

  test('holds no secret', () => {
    const secrets = all
      .flatMap(([, { environment = {} }]) => Object.entries(environment))
      .filter(([name]) => /PASSWORD|PWD|SECRET|TOKEN|KEY/u.test(name));
    expect(secrets.length).toBeGreaterThan(0);
    // From the caller's environment, and refused where it is not set.
    for (const secret of secrets)
      expect(secret).toEqual([secret[0], expect.stringMatching(/^\$\{[A-Z_]+:\?[^}]+\}$/u)]);
  });

  test('registers exactly the search attributes that runs use', () => {
    const script = services['search-attributes']?.command?.join(' ') ?? '';
    const registered = [...script.matchAll(/--name (\w+) --type Keyword/gu)].map(([, name]) => name);
    expect(new Set(registered)).toEqual(new Set(Object.values(searchAttributes)));
  });

  test.each(all.filter(([, { build }]) => build !== undefined))(
    'runs a command of drover as %s',
    (_, { command = [] }) => {
      const { status, stdout } = spawnSync(
        process.execPath,
        [join(checkout, 'starters/main.ts'), ...command, '--help'],
        { encoding: 'utf8' },
      );
      // Of a command that it does not know, drover shows the overview.
      expect([status, stdout]).toEqual([0, expect.stringContaining(`Usage: drover ${command[0] ?? ''} `)]);
    },
  );

  test('runs worker and bridge with what they need', () => {
    const needed = {
      worker: ['TEMPORAL_ADDRESS', 'DROVER_CONFIG', 'KUBECONFIG', 'OS_CLIENT_CONFIG_FILE', 'OS_CLOUD'],
      bridge: ['TEMPORAL_ADDRESS', 'DROVER_CONFIG', 'KUBECONFIG'],
    };
    for (const [name, variables] of Object.entries(needed)) {
      const { environment = {}, volumes: mounts = [] } = services[name] ?? {};
      expect(Object.keys(environment)).toEqual(expect.arrayContaining(variables));
      // A file that a variable names is mounted.
      const targets = mounts.map((mount) => mount.split(':')[1]);
      for (const file of Object.values(environment).filter((value) => value.startsWith('/')))
        expect(targets).toContain(file);
    }
  });
});

describe('Dockerfile', () => {
  const dockerfile = read('Dockerfile');
  const copied = [...dockerfile.matchAll(/^COPY (\S+) (\S+)$/gmu)].map(([, from, to]) => [from, to]);

  test('copies every folder that the command reads at run time, under its own name', () => {
    const folders = [...reachableFolders('starters/main.ts'), 'workflows'].sort();
    expect(folders).toEqual(
      expect.arrayContaining(['activities', 'contracts', 'k8s-bridge', 'runtime', 'starters', 'workers', 'workflows']),
    );
    expect(copied).toEqual(expect.arrayContaining(folders.map((folder) => [folder, folder])));
  });

  test('copies nothing that is not there, or that .dockerignore holds back', () => {
    const ignored = read('.dockerignore').split('\n').filter(Boolean);
    for (const [from = ''] of copied) {
      expect([from, globSync(from, { cwd: checkout }).length]).toEqual([from, 1]);
      expect(ignored).not.toContain(from);
    }
  });

  test('runs Node as the launcher does', () => {
    const node = JSON.parse(read('bin/node.json')) as { arguments: string[]; environment: Record<string, string> };
    const [, entrypoint = ''] = /^ENTRYPOINT (.+)$/mu.exec(dockerfile) ?? [];
    expect(JSON.parse(entrypoint)).toEqual(['node', ...node.arguments, '/opt/drover/starters/main.ts']);
    const environment = [...dockerfile.matchAll(/^ENV (\S+)=(\S+)$/gmu)].map(([, name, value]) => [name, value]);
    expect(Object.fromEntries(environment)).toEqual(node.environment);
  });

  test('keeps the native parts that the workflow bundler needs', () => {
    const { packages } = JSON.parse(read('package-lock.json')) as {
      packages: Record<string, { optional?: boolean; dev?: boolean }>;
    };
    const compiler = Object.entries(packages).filter(([path]) => path.startsWith('node_modules/@swc/core-linux-x64'));
    expect(compiler.length).toBeGreaterThan(0);
    expect(compiler.some(([, { optional, dev }]) => optional === true && dev !== true)).toBe(true);
    expect(dockerfile).not.toMatch(/--omit=optional|--no-optional/u);
  });

  test('starts a file that it has copied, as an unprivileged user', () => {
    const [, started] = /^ENTRYPOINT \["node", .*"\/opt\/drover\/([^"]+)"\]$/mu.exec(dockerfile) ?? [];
    expect(copied.map(([folder]) => folder)).toContain(dirname(started ?? ''));
    // By number, as `runAsNonRoot` of Kubernetes needs it.
    expect(dockerfile).toMatch(/^USER [1-9]\d*:[1-9]\d*$/mu);
  });
});

/** The top folders of all files that the entry imports, directly or not, types left out. */
function reachableFolders(entry: string): Set<string> {
  const known = new Set<string>();
  const visit = (file: string): void => {
    if (known.has(file)) return;
    known.add(file);
    const imports = read(file).matchAll(
      /(?:^import (?!type )[^;]*?from |^export (?!type )[^;]*? from |\bimport\()\s*'(\.[^']+)'/gmu,
    );
    for (const [, specifier = ''] of imports) {
      const target = relative(checkout, resolve(checkout, dirname(file), specifier));
      if (target.endsWith('.ts')) visit(target);
    }
  };
  visit(entry);
  return new Set([...known].map((file) => file.split('/')[0] ?? ''));
}
