import * as fc from 'fast-check';
import { createRedfishClient } from '../../../activities/redfish/client.ts';
import type { Http, HttpAnswer } from '../../../activities/redfish/http.ts';
import type { BmcSettings, RedfishClient } from '../../../activities/redfish/types.ts';
import type { ErrorCode } from '../../../contracts/errors.ts';
import { powerStates } from '../../../contracts/node-failure/power.ts';
import { systemClock } from '../../../runtime/clock.ts';
import { refusal, rootAnswer, systemAnswer, systemPath, systemsAnswer, systemUuid } from '../../scripted-bmc.ts';
import { edge, type Edge } from '../edge.ts';
import { hostileText, nearJson, nearText } from '../hostile.ts';

const never = new AbortController().signal;

interface Wire {
  status: number;
  text: string;
}

/** Mostly an answer that says yes. */
const wire = (...samples: readonly unknown[]): fc.Arbitrary<Wire> =>
  fc.oneof(
    { weight: 5, arbitrary: fc.record({ status: fc.constantFrom(200, 200, 204), text: nearJson(...samples) }) },
    {
      weight: 1,
      arbitrary: fc.record({
        status: fc.constantFrom(301, 307, 400, 401, 403, 404, 404, 409, 412, 429, 500, 501, 503),
        text: fc.oneof(nearJson(refusal('no', 'because')), hostileText()),
      }),
    },
  );

const settings: BmcSettings = {
  url: 'https://bmc',
  username: 'u',
  password: 'the-bmc-password',
  auth: 'basic',
  ca: null,
  system: { uuid: systemUuid },
};
const usual: Record<string, unknown> = {
  '/redfish/v1/': rootAnswer,
  '/redfish/v1/Systems': systemsAnswer,
  [systemPath]: systemAnswer(),
};

/** A BMC that answers one path so (of a machine and of sessions, also what is below), and the others as it should. */
function serving(
  where: string,
  { status, text, ...head }: Wire & Partial<HttpAnswer>,
  change: Partial<BmcSettings> = {},
): RedfishClient {
  const isAsked = (path: string): boolean =>
    where === '/redfish/v1/' || where === '/redfish/v1/Systems'
      ? path.split('?', 1)[0] === where
      : path.startsWith(where);
  const answer = (path: string): HttpAnswer => ({
    token: null,
    location: null,
    requestId: '',
    ...(isAsked(path)
      ? { status, text, ...head }
      : { status: 200, text: JSON.stringify(usual[path] ?? systemAnswer()) }),
  });
  const http: Http = { send: ({ path }) => Promise.resolve(answer(path)), close: () => Promise.resolve() };
  return createRedfishClient({ ...settings, ...change }, { clock: systemClock, http });
}

const failures: ErrorCode[] = [
  'AnswerMalformed',
  'BmcCredentialRefused',
  'BmcUnreachable',
  'RequestRefused',
  'SystemNotFound',
];
/** Only the word Off is Off, and only this machine is this machine. */
const isMeant = (value: unknown): boolean => {
  const { power, uuid } = value as { power: string; uuid: string | null };
  return powerStates.some((state) => state === power) && uuid?.toLowerCase() === systemUuid;
};
const find = (client: RedfishClient) => client.findSystem(never);

export const redfishEdges: readonly Edge[] = [
  edge({
    name: 'Redfish: the service root',
    inputs: wire(rootAnswer),
    failures,
    read: (answer) => find(serving('/redfish/v1/', answer)),
    holds: isMeant,
  }),
  edge({
    name: 'Redfish: the systems',
    inputs: wire(systemsAnswer, { ...systemsAnswer, 'Members@odata.nextLink': '/redfish/v1/Systems?page=2' }),
    failures,
    read: (answer) => find(serving('/redfish/v1/Systems', answer)),
    holds: isMeant,
  }),
  edge({
    name: 'Redfish: a system',
    inputs: wire(systemAnswer(), systemAnswer({ PowerState: 'Off' })),
    failures,
    read: (answer) => find(serving(systemPath, answer)),
    holds: isMeant,
  }),
  edge({
    name: 'Redfish: a system by its path',
    inputs: wire(systemAnswer(), systemAnswer({ PowerState: null })),
    failures,
    read: (answer) => find(serving(systemPath, answer, { system: { path: systemPath } })),
    holds: (value) => powerStates.some((state) => state === (value as { power: string }).power),
  }),
  edge({
    name: 'Redfish: the link to a system',
    inputs: nearText(systemPath, `https://bmc${systemPath}`, '/redfish/v1/Systems?a=1'),
    failures,
    read: (link) =>
      find(
        serving(
          '/redfish/v1/Systems',
          { status: 200, text: JSON.stringify({ Members: [{ '@odata.id': link }] }) },
          { system: { serial: 'SN-1' } },
        ),
      ),
    holds: (value) => (value as { path: string }).path.startsWith('/redfish/v1'),
  }),
  edge({
    name: 'Redfish: a reset',
    inputs: wire(systemAnswer()),
    failures: [...failures, 'PowerOffRefused'],
    read: async (answer) => {
      const client = serving(systemPath, answer);
      await client.forceOff(await find(client), never);
    },
    holds: (value) => value === undefined,
  }),
  edge({
    name: 'Redfish: a login',
    inputs: fc.record({
      answer: wire({}),
      token: fc.oneof(
        { weight: 4, arbitrary: fc.constant('the-token-of-the-session') },
        { weight: 1, arbitrary: fc.constant(null) },
      ),
      location: fc.oneof(fc.constant(null), nearText('/redfish/v1/SessionService/Sessions/1')),
    }),
    failures,
    read: async ({ answer, token, location }) => {
      const client = serving('/redfish/v1/SessionService', { ...answer, token, location }, { auth: 'session' });
      const system = await find(client);
      await client.close();
      return system;
    },
    holds: isMeant,
  }),
];
