import { fencingDefaults } from '../../contracts/node-failure/fencing.ts';
import { proofProblem } from './fencing-consent.ts';
import { confirmationAt, incident, openedAtMs, proofAt } from '../../test/fixtures/workflows/fencing.ts';
import { datedProof, downProof, upProof } from './forced-down-proof.ts';

test('each evidence names its witness and its time', () => {
  const at = new Date(openedAtMs).toISOString();
  expect(
    downProof({ by: 'person', confirmation: confirmationAt(openedAtMs), usedAtMs: openedAtMs + 1 }, incident),
  ).toEqual({ incident: incident.id, by: 'person', witness: 'jane', at });
  const proof = proofAt(openedAtMs);
  expect(downProof({ by: 'power', proof }, incident)).toEqual({
    incident: incident.id,
    by: 'power-off',
    witness: '/redfish/v1/Systems/1 (u-1)',
    at: new Date(proof.secondOffMs).toISOString(),
  });
  expect(downProof({ by: 'power', proof: { ...proof, systemUuid: null } }, incident).witness).toBe(
    '/redfish/v1/Systems/1',
  );
  expect(upProof('boot-2', incident, openedAtMs)).toEqual({
    incident: incident.id,
    by: 'restart',
    witness: 'boot-2',
    at,
  });
});

test.each([
  ['fast', 3_600_000],
  ['slow', -3_600_000],
])('the clock of a worker that is %s changes nothing: a proof is never younger than its request', (_what, offMs) => {
  const askedMs = openedAtMs + 5_000;
  const dated = datedProof(proofAt(askedMs + 2_000 + offMs), askedMs);
  expect([dated.firstOffMs, dated.secondOffMs]).toEqual([askedMs, askedMs + fencingDefaults.powerRecheckMs]);
  expect(proofProblem(dated, incident, fencingDefaults)).toBeNull();
});

test('reads that were too close by the worker’s own clock stay too close', () => {
  expect(
    proofProblem(
      datedProof(proofAt(openedAtMs, { secondOffMs: openedAtMs + 1 }), openedAtMs),
      incident,
      fencingDefaults,
    ),
  ).toContain('apart');
});
