import type { Client } from '@temporalio/client';
import type { EvictionResult } from '../../contracts/eviction/eviction.ts';
import { evictionId } from '../../contracts/ids.ts';
import { listMigrations } from '../openstack/migrations.ts';
import { listServers } from '../openstack/seed.ts';
import type { Server } from '../openstack/seed.ts';
import type { Session } from '../openstack/session.ts';
import { host, troubled } from './hosts-fixture.ts';

/** What the demo should have come to, checked in Nova and in the run's own result. */
export interface Verdict {
  wrong: string[];
  moved: number;
  attemptsOfHanging: number;
  notMoved: string[];
}

export async function judge(client: Client, session: Session, servers: readonly Server[]): Promise<Verdict> {
  const result = (await client.workflow.getHandle(evictionId(host)).result()) as EvictionResult;
  const left = await listServers(session, host);
  const all = await listServers(session);
  const hanging = servers.find(({ name }) => name === troubled.hangs);
  const attempts = hanging === undefined ? [] : await listMigrations(session, hanging.id);
  const wrong: string[] = [];
  const expect = (holds: boolean, otherwise: string): void => void (holds || wrong.push(otherwise));

  expect(
    result.outcome === 'blocked',
    `the eviction ended as ${result.outcome} although ${troubled.staysBehind} cannot move`,
  );
  expect(
    left.length === 1 && left[0]?.name === troubled.staysBehind,
    `on ${host} are still ${left.map(({ name }) => name).join(', ') || 'none'}`,
  );
  expect(all.length === servers.length, `${all.length} of ${servers.length} servers exist`);
  expect(
    attempts
      .map(({ status }) => status)
      .sort()
      .join() === 'cancelled,completed',
    `${troubled.hangs} was moved by ${attempts.map(({ status }) => status).join(', ')}`,
  );
  expect(
    result.notMoved?.length === 1 && result.notMoved[0]?.name === troubled.staysBehind,
    `the result names ${result.notMoved?.map(({ name }) => name).join(', ')}`,
  );
  return {
    wrong,
    moved: result.counts?.done ?? 0,
    attemptsOfHanging: attempts.length,
    notMoved: left.map(({ name }) => name),
  };
}
