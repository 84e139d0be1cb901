import { droverFailure } from '../../runtime/failure.ts';
import { paper, sampleContext } from '../../test/fixtures/starters/context.ts';
import { evictionStore, sampleEviction } from '../../test/fixtures/starters/eviction.ts';
import { sampleHypervisor } from '../../test/fixtures/starters/hypervisor.ts';
import { temporalAccessTo } from '../../test/fixtures/starters/temporal-access.ts';
import { exitCodes } from '../command/exit-codes.ts';
import { main } from '../main.ts';
import { gather } from './describe.ts';

const none = Object.assign(new Error('no such run'), { name: 'WorkflowNotFoundError' });

/** @param isAway else Temporal knows of no run */
const reading = (isAway = false) => {
  const away = droverFailure('TemporalUnavailable', 'Temporal at a:1 cannot be reached');
  const access = temporalAccessTo({
    connection: { close: async () => undefined },
    workflowService: { describeNamespace: async () => ({}) },
    workflow: {
      async *list() {},
      getHandle: () => ({ describe: () => Promise.reject(none) }),
    },
  });
  const { client } = access;
  const openTemporal = () =>
    isAway ? Promise.reject(away) : Promise.resolve({ client, address: 'a:1', namespace: 'n' });
  return {
    ...access,
    context: { ...sampleContext(paper()), openTemporal },
    config: { cluster: '', kubernetes: { systemNamespace: 'drover-system' } } as never,
  };
};
const forbidden = (what: string): Promise<never> =>
  Promise.reject(droverFailure('KubernetesForbidden', `You may not read ${what}`));
const calm = {
  evictions: async () => [],
  get: async () => null,
  migrations: async () => [],
  open: async () => ({ request: async () => ({ data: {} }) }),
};
const problemsOf = async (kubernetes: object): Promise<string[]> =>
  (await gather(reading(), { ...calm, ...kubernetes } as never, 'node-1')).problems;

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

describe('without Temporal', () => {
  const described = (kubernetes: object) => gather(reading(true), { ...calm, ...kubernetes } as never, 'node-1');
  const problems = [expect.stringMatching(/^Runs of node-1: Temporal at a:1 cannot be reached/u)];
  const noRun = { run: null, runsKnown: false, failure: null, problems };

  test('what Kubernetes has is shown', async () => {
    const eviction = sampleEviction();
    const migrations = [{ id: 'i-1', origin: null, destination: null, type: null, percent: null, error: null }];
    const object = sampleHypervisor();
    const stops = { data: { all: JSON.stringify({ by: 'jane', reason: 'fire', at: '2026-01-31T12:00:00Z' }) } };
    const found = await described({
      evictions: async () => [eviction],
      migrations: async () => migrations,
      get: async () => object,
      open: async () => ({ request: async () => ({ metadata: { name: 'drover-stop' }, ...stops }) }),
    });
    expect(found).toMatchObject({ ...noRun, eviction, migrations, hypervisor: { object, run: null } });
    expect(found.stops).toEqual([expect.stringMatching(/stopped by jane/u)]);
  });

  test('a host of which Kubernetes has nothing may be there: why Temporal was not asked is the error', async () => {
    await expect(described({})).rejects.toThrow(/^Temporal at a:1 cannot be reached/u);
    const away = () => forbidden('objects');
    await expect(described({ evictions: away, get: away })).rejects.toThrow(/^Temporal at a:1 cannot be reached/u);
  });

  test('a Hypervisor is shown, and whether its host is evicted is not known', async () => {
    const object = sampleHypervisor();
    expect(await described({ get: async () => object })).toMatchObject({
      ...noRun,
      eviction: null,
      hypervisor: { object },
    });
  });

  test('the command says what it could not read, and how to find out why', async () => {
    const terminal = paper();
    const { context } = reading(true);
    const openKubernetes = () => evictionStore().kubernetes.open();
    const code = await main(['describe', 'node-1'], { ...context, terminal, openKubernetes });
    expect([code, terminal.stderr]).toEqual([exitCodes.ok, '']);
    expect(terminal.stdout).toMatch(
      /^node-1: Eviction node-1 has said nothing yet, and whether it runs is not known$/mu,
    );
    expect(terminal.stdout).toMatch(/^Could not be read\nRuns of node-1: Temporal at a:1 cannot be reached/mu);
    expect(terminal.stdout).toMatch(/^What you can do\n {2}drover doctor /mu);
  });
});
