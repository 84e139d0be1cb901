import { spawn } from 'node:child_process';
import type { KubernetesHandle } from './parts/kubernetes-handle.ts';

const timeoutMs = 30_000;

/** What a command printed and how it ended. */
export interface CommandEnd {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs a program as a user would, and waits for its end. Never throws for its exit code. */
export function run(
  command: string,
  args: readonly string[],
  {
    env,
    input,
    limitMs = timeoutMs,
  }: { env?: Readonly<Record<string, string | undefined>>; input?: string; limitMs?: number } = {},
): Promise<CommandEnd> {
  const { promise, resolve, reject } = Promise.withResolvers<CommandEnd>();
  const child = spawn(command, args, {
    env: { ...process.env, ...env },
    stdio: 'pipe',
    signal: AbortSignal.timeout(limitMs),
  });
  const text = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (chunk: string) => (text[name] += chunk));
  child.on('error', reject).on('close', (code) => resolve({ code, ...text }));
  child.stdin.on('error', () => undefined).end(input ?? '');
  return promise;
}

/** The real kubectl, as the lab's administrator. @throws with its output when it fails */
export async function kubectl(
  { kubectl: program, kubeconfig }: KubernetesHandle,
  args: readonly string[],
  input?: string,
): Promise<string> {
  const { code, stdout, stderr } = await run(program, args, {
    env: { KUBECONFIG: kubeconfig },
    ...(input === undefined ? {} : { input }),
  });
  if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr.trim() || stdout.trim()}`);
  return stdout;
}
