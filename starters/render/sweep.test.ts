import type { JudgedCandidate, SweepReport } from '../../contracts/machine-safety/sweep.ts';
import type { SweepView } from '../machines/read-sweep.ts';
import { renderSweep } from './sweep.ts';

const nowMs = Date.UTC(2026, 0, 31, 12);
const orphan: JudgedCandidate = {
  providerId: 'vsphere://eu-1/a',
  machineName: 'lost',
  machineClass: 'small',
  why: 'MachineMissing',
  gates: [],
  firstMs: nowMs,
  sightings: 1,
};
const report: SweepReport = {
  dryRun: false,
  classes: [],
  listed: 0,
  machines: 0,
  orphans: 0,
  candidates: [],
  deleted: [],
  deletedCount: 0,
  nodes: null,
  leftovers: [],
  leftoverCount: 0,
  answeredLeftovers: [],
};
const shown = (change: Partial<SweepReport>): string[] => {
  const view: SweepView = {
    namespace: 'shoot',
    workflowId: 'orphan-sweep/shoot',
    runId: 'r',
    status: 'Completed',
    startedAt: '2026-01-31T11:59:00Z',
    endedAt: '2026-01-31T12:00:00Z',
    outcome: 'reconciled',
    reason: 'NoOrphans',
    message: 'well',
    waitingFor: null,
    report: { ...report, ...change },
    webUi: null,
  };
  return renderSweep(view, nowMs, Infinity).slice(1);
};

test.each<[what: string, gates: JudgedCandidate['gates'], cell: string]>([
  ['nothing', [], 'nothing: it is being deleted'],
  ['one gate', [{ gate: 'Frozen', message: 'control is away.' }], 'Frozen: control is away.'],
  [
    'several: the first with its reason',
    [
      { gate: 'Frozen', message: 'control is away.' },
      { gate: 'TooYoung', message: 'it is young' },
      { gate: 'SeenTooSeldom', message: 'found once' },
    ],
    'Frozen: control is away. (also TooYoung, SeenTooSeldom)',
  ],
])('what holds an orphan back: %s', (_what, gates, cell) => {
  const [, , row = ''] = shown({ orphans: 1, candidates: [{ ...orphan, gates }] });
  expect(row.endsWith(`vsphere://eu-1/a  ${cell}`)).toBe(true);
});

test('leftovers have a table, what was not listed a line', () => {
  const failure = { code: null, message: 'Neutron is away' };
  const kept = { ProviderIdMatches: 0, BeingCreated: 0, OtherMachineHasIt: 0 };
  const counts = { listed: 0, orphans: 0, kept, failure: null };
  const lines = shown({
    classes: [{ name: 'gpu', provider: 'OpenStack', ...counts, leftovers: { listed: null, failure } }],
    leftovers: [
      { kind: 'port', id: 'p-1', name: 'lost', createdMs: nowMs - 60_000, machineClass: 'small' },
      { kind: 'volume', id: 'v-1', name: 'old', createdMs: null, machineClass: 'small' },
    ],
    leftoverCount: 3,
  });
  expect(lines.slice(-5)).toEqual([
    'LEFTOVER  CLASS  KIND    ID   AGE',
    'lost      small  port    p-1  1m',
    'old       small  volume  v-1  ?',
    '… and 1 more leftovers.',
    'Leftovers of gpu cannot be listed: Neutron is away',
  ]);
});
