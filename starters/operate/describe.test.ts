import { droverFailure } from '../../runtime/failure.ts';
import { paper, sampleContext } from '../../test/fixtures/starters/context.ts';
import { sampleEviction } from '../../test/fixtures/starters/eviction.ts';
import { temporalAccessTo } from '../../test/fixtures/starters/temporal-access.ts';
import { exitCodes } from '../command/exit-codes.ts';
import { gather } from './describe.ts';

const none = Object.assign(new Error('no such run'), { name: 'WorkflowNotFoundError' });

/** Temporal that knows of no run. */
const temporal = () => ({
  ...temporalAccessTo({
    workflow: {
      async *list() {},
      getHandle: () => ({ describe: () => Promise.reject(none) }),
    },
  }),
  context: sampleContext(paper()),
  config: { cluster: '', kubernetes: { systemNamespace: 'drover-system' } } as never,
});
const forbidden = (what: string): Promise<never> =>
  Promise.reject(droverFailure('KubernetesForbidden', `You may not read ${what}`));
const calm = {
  evictions: async () => [],
  get: async () => null,
  migrations: async () => [],
  open: async () => ({ request: async () => ({ data: {} }) }),
};
const problemsOf = async (kubernetes: object): Promise<string[]> =>
  (await gather(temporal(), { ...calm, ...kubernetes } as never, 'node-1')).problems;

test('a host of which all is read and nothing known is not there', async () => {
  await expect(problemsOf({})).rejects.toMatchObject({ exitCode: exitCodes.notFound });
});

test('a Hypervisor that cannot be read is named, and the host may be there', async () => {
  expect(await problemsOf({ get: () => forbidden('hypervisors') })).toEqual([
    expect.stringMatching(/^Hypervisor node-1: You may not read hypervisors/u),
  ]);
});

test('so are Migrations', async () => {
  const evictions = async () => [sampleEviction()];
  expect(await problemsOf({ evictions, migrations: () => forbidden('migrations') })).toEqual([
    expect.stringMatching(/^Migrations of Eviction node-1: You may not read migrations/u),
  ]);
});
