import type { SafetyRun } from '../../contracts/machine-safety/judge-freeze.ts';
import { judgeApiServerSafety, judgeReplacedManager, type ManagerDeployment } from './replaced-manager.ts';

const deploymentOf = (args: string[], replicas = 1): ManagerDeployment => ({
  spec: {
    replicas,
    template: {
      spec: {
        containers: [
          { command: ['./mcm'], args: [] },
          { command: [], args },
        ],
      },
    },
  },
});
const period = '--machine-safety-orphan-vms-period';

test.each<[string, ManagerDeployment | null, 'observe' | 'act', string]>([
  ['there is none', null, 'act', 'ok'],
  ['its default', deploymentOf([]), 'act', 'fail'],
  ['its default, and drover only observes', deploymentOf([]), 'observe', 'ok'],
  ['without replicas', deploymentOf([], 0), 'act', 'ok'],
  ['half an hour', deploymentOf([`${period}=30m`]), 'act', 'fail'],
  ['an hour and a half', deploymentOf([`${period}=1h30m0s`]), 'act', 'fail'],
  ['a day less a second', deploymentOf([`${period}=23h59m59s`]), 'act', 'fail'],
  ['a day', deploymentOf([`${period}=24h`]), 'act', 'ok'],
  ['as two words', deploymentOf([period, '87600h0m0s']), 'act', 'ok'],
  ['as two words, without the second', deploymentOf([period]), 'act', 'fail'],
  ['a day in minutes', deploymentOf([`${period}=1440m`]), 'act', 'ok'],
  ['many milliseconds', deploymentOf([`${period}=90000000ms`]), 'act', 'ok'],
  ['what is no duration', deploymentOf([`${period}=never`]), 'act', 'fail'],
  ['two, of which one is short', deploymentOf([`${period}=24h`, `${period}=15m`]), 'act', 'fail'],
  ['a Deployment without a spec', {}, 'act', 'fail'],
])('replaced manager: %s', (_why, deployment, mode, status) => {
  expect(judgeReplacedManager('shoot', deployment, mode).status).toBe(status);
});

const now = Date.UTC(2026, 0, 31, 12);
const thawed = { frozen: false, reason: '', inactiveSinceMs: null, probedMs: now };
const open: SafetyRun = { status: 'open', decided: thawed, beat: { atMs: now, state: thawed, servers: null } };

test.each<[string, SafetyRun, string, RegExp]>([
  ['thawed', open, 'ok', /not frozen/u],
  ['no run', { status: 'missing', decided: null, beat: null }, 'fail', /does not run/u],
  ['an ended run', { ...open, status: 'closed' }, 'fail', /does not run/u],
  ['frozen', { ...open, decided: { ...thawed, frozen: true, reason: 'no answer' } }, 'warn', /are frozen: no answer/u],
  ['not known', { ...open, beat: null }, 'warn', /not known/u],
])('API-server safety: %s', (_why, run, status, message) => {
  const finding = judgeApiServerSafety('api-server-safety/shoot', run, { periodMs: 60_000, timeoutMs: 30_000 }, now);
  expect(finding.status).toBe(status);
  expect(finding.message).toMatch(message);
});
