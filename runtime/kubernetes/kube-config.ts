import { type ChildProcessWithoutNullStreams, spawn, type SpawnOptionsWithoutStdio } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { type ConnectionOptions, createSecureContext, type SecureContextOptions } from 'node:tls';
import { isDeepStrictEqual } from 'node:util';

import { KubeConfig } from '@kubernetes/client-node';
import type { Dispatcher } from 'undici';

import { droverFailure } from '../failure.ts';
import { isKubeconfigMissing, noKubeconfig } from './kubernetes-faults.ts';
import { useTokenFiles } from './token-files.ts';

export interface KubeConfigOptions {
  /** Path of a kubeconfig; null: as `kubectl` finds it. */
  kubeconfig?: string | null;
  /** Context in it; null: its current one. */
  context?: string | null;
  /** A kubeconfig itself, which is read instead of any file. */
  content?: string;
}

const inClusterToken = '/var/run/secrets/kubernetes.io/serviceaccount/token';

/**
 * The kubeconfig that is named, else $KUBECONFIG, ~/.kube/config, the pod's service account: in kubectl's order, but
 * without its last resort, an unprotected server on localhost.
 *
 * @throws InvalidConfiguration when there is none (`isKubeconfigMissing`), it cannot be read, or it has no such context
 */
export function loadKubeConfig(
  { kubeconfig = null, context = null, content }: KubeConfigOptions = {},
  env: NodeJS.ProcessEnv = process.env,
): KubeConfig {
  const config = new KubeConfig();
  const from = load(config, { kubeconfig, content }, env);
  const known = config.getContexts().map(({ name }) => plainText(name));
  if (context !== null) {
    if (!known.includes(context))
      throw droverFailure(
        'InvalidConfiguration',
        `${from} has no context ${context}; it has: ${known.join(', ') || 'none'}`,
      );
    config.setCurrentContext(context);
  }
  const cluster = config.getCurrentCluster();
  if (cluster === null)
    throw droverFailure(
      'InvalidConfiguration',
      `${from}: the context \`${plainText(config.getCurrentContext())}\` names no cluster; it has the contexts: ${known.join(', ') || 'none'}`,
    );
  // The client library takes what the file says; a wrong type would show as a defect in the middle of a request.
  if (
    !/^https?:\/\//u.test(plainText(cluster.server)) ||
    cluster.server.length > longestUrl ||
    !URL.canParse(cluster.server)
  ) {
    throw droverFailure(
      'InvalidConfiguration',
      `${from}: the server of cluster \`${plainText(cluster.name)}\` is no http or https URL`,
    );
  }
  keepDispatcher(config);
  return config;
}

/** Longer than any address of a server. */
const longestUrl = 2_048;

/** Of a field that is text in every kubeconfig but a broken one. */
const plainText = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));

/** Returns what was read, for messages. */
function load(
  config: KubeConfig,
  { kubeconfig, content }: { kubeconfig: string | null; content: string | undefined },
  env: NodeJS.ProcessEnv,
): string {
  const home = join(env['HOME'] ?? homedir(), '.kube', 'config');
  const named = kubeconfig ?? env['KUBECONFIG'] ?? '';
  try {
    if (content !== undefined) config.loadFromString(content);
    else if (kubeconfig !== null) loadFile(config, kubeconfig);
    else if (named !== '') {
      config.loadFromDefault();
      useTokenFiles(config, named.split(delimiter).filter(Boolean));
    } else if (existsSync(home)) loadFile(config, home);
    else if (existsSync(inClusterToken)) config.loadFromCluster();
    else
      throw droverFailure(
        'InvalidConfiguration',
        'there is no kubeconfig: set KUBECONFIG, or kubernetes.kubeconfig in drover’s settings',
        { details: noKubeconfig },
      );
  } catch (error) {
    if (isKubeconfigMissing(error)) throw error;
    // Further lines of the message quote the file, and with it perhaps a token.
    const [message = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
    throw droverFailure('InvalidConfiguration', named === '' ? message : `kubeconfig ${named}: ${message}`);
  }
  return named === '' ? 'the kubeconfig' : `kubeconfig ${named}`;
}

function loadFile(config: KubeConfig, file: string): void {
  config.loadFromFile(file);
  useTokenFiles(config, [file]);
}

/**
 * The client opens a new TLS agent for each request, and with it a new connection. This keeps one agent for as long as
 * certificates stay the same; a rotated certificate gets a new one. The method is private, hence the exact pin of the
 * client in package.json.
 *
 * It speaks HTTP/1.1: over HTTP/2 all watches and requests share one connection, and when that dies without a word (a
 * firewall that lost its state, a node that is gone) each new request is put on the dead one and times out, for as long
 * as the kernel keeps it. Over HTTP/1.1 a request that times out takes its own connection with it.
 */
function keepDispatcher(config: KubeConfig): void {
  type Create = (cluster: unknown, options: SecureContextOptions) => Dispatcher | undefined;
  type Options = { type: string; connect?: SecureContextOptions };
  const open = config as unknown as {
    createDispatcher: Create;
    createDispatcherOptions: (...of: Parameters<Create>) => Options;
  };
  const create = open.createDispatcher.bind(config);
  let kept: { of: Parameters<Create>; dispatcher: Dispatcher | undefined } | null = null;
  open.createDispatcher = (...of) => {
    if (kept === null || !isDeepStrictEqual(kept.of, of)) {
      // Requests under way finish on the old one.
      void kept?.dispatcher?.close();
      kept = { of, dispatcher: overHttp1(create(...of)) };
    }
    return kept.dispatcher;
  };
  const createOptions = open.createDispatcherOptions.bind(config);
  open.createDispatcherOptions = (...of) => {
    const options = createOptions(...of);
    return options.type === 'agent' ? { ...options, connect: withSecureContext(options.connect) } : options;
  };
}

/** Else each connection reads the certificates anew. What cannot be read, the connection says. */
function withSecureContext(options: SecureContextOptions = {}): SecureContextOptions & ConnectionOptions {
  try {
    return { ...options, secureContext: createSecureContext(options) };
  } catch {
    return options;
  }
}

const overHttp1 = (agent: Dispatcher | undefined): Dispatcher | undefined =>
  agent?.compose((dispatch) => (request, handler) => dispatch(Object.assign(request, { allowH2: false }), handler));

/**
 * The client waits for a plug-in for credentials for as long as it runs, and while it runs a command does not exit. What
 * starts it is private, too.
 */
export function limitLogin(config: KubeConfig, timeoutMs: number): void {
  const { authenticators } = config as unknown as { authenticators: readonly object[] };
  const start = (
    command: string,
    args: string[],
    options: SpawnOptionsWithoutStdio,
  ): ChildProcessWithoutNullStreams => {
    const plugin = spawn(command, args, { ...options, timeout: timeoutMs, killSignal: 'SIGKILL' });
    plugin.once('exit', () => {
      if (!plugin.killed) return;
      plugin.emit('error', new DOMException('the plug-in for credentials took too long', 'TimeoutError'));
      // What it has started may hold them open.
      for (const stream of [plugin.stdin, plugin.stdout, plugin.stderr]) stream.destroy();
    });
    return plugin;
  };
  for (const one of authenticators) if ('execFn' in one) one.execFn = start;
}
