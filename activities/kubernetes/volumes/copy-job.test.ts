import { copyJobSpec } from './copy-job.ts';

const request = {
  from: 'source',
  to: { name: 'target', uid: 'u-target' },
  volumeMode: 'Filesystem',
  image: 'drover:1',
} as const;

test('a copy has the priority that its DataVolume asks for', () => {
  const { template } = copyJobSpec(request, { priorityClassName: 'soon' });
  expect(template.spec).toMatchObject({ priorityClassName: 'soon', restartPolicy: 'Never' });
  expect(copyJobSpec(request, {}).template.spec).not.toHaveProperty('priorityClassName');
});
