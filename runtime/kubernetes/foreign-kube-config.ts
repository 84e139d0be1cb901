import { z } from 'zod';
import { parse } from 'yaml';

import { droverFailure } from '../failure.ts';
import { registerSecret } from '../redaction.ts';

/**
 * Of a kubeconfig no more than data. One that others have written may name files of this machine, and programs that it
 * is to run: what does so is refused, as is a server that nothing vouches for.
 */
const fileSchema = z.object({
  'current-context': z.string(),
  contexts: z.array(z.object({ name: z.string(), context: z.object({ cluster: z.string(), user: z.string() }) })),
  clusters: z.array(
    z.object({
      name: z.string(),
      cluster: z.strictObject({
        server: z.string().startsWith('https://'),
        'certificate-authority-data': z.string().min(1),
        'tls-server-name': z.string().optional(),
      }),
    }),
  ),
  users: z.array(
    z.object({
      name: z.string(),
      user: z.strictObject({
        'client-certificate-data': z.string().optional(),
        'client-key-data': z.string().optional(),
        token: z.string().optional(),
      }),
    }),
  ),
});

/** One cluster and one user take a fifth of it. */
const longestContent = 65_536;

/**
 * The current context of a kubeconfig that another client has written, and nothing besides.
 *
 * @param where what it is called in messages; none of its content is in them
 * @returns a kubeconfig as JSON
 * @throws InvalidObject
 */
export function foreignKubeConfig(content: string, where: string): string {
  const refuse = (why: string): Error => droverFailure('InvalidObject', `The kubeconfig in ${where} ${why}`);
  if (content.length > longestContent) throw refuse(`is longer than ${longestContent} characters`);
  const { data, error } = fileSchema.safeParse(parsed(content));
  if (error !== undefined) {
    const [issue] = error.issues;
    const field = issue?.code === 'unrecognized_keys' ? issue.keys.join(', ') : issue?.path.map(String).join('.');
    throw refuse(
      `cannot be used for ${field || 'it is no kubeconfig'}: drover takes a server by https with certificate-authority-data, and a client certificate or token as data, no files and no programs`,
    );
  }
  const context = data.contexts.find(({ name }) => name === data['current-context']);
  const cluster = data.clusters.find(({ name }) => name === context?.context.cluster);
  const user = data.users.find(({ name }) => name === context?.context.user);
  if (context === undefined || cluster === undefined || user === undefined)
    throw refuse('has no cluster and user of its current context');
  for (const secret of [user.user['client-key-data'], user.user.token]) if (secret) registerSecret(secret);
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': context.name,
    contexts: [context],
    clusters: [cluster],
    users: [user],
  });
}

function parsed(content: string): unknown {
  try {
    // Aliases, of which a few lines can hold more than memory does, are not needed here.
    // Nor is the place of each error, which is looked for from the beginning.
    return parse(content, { maxAliasCount: 0, prettyErrors: false });
  } catch {
    return null;
  }
}
