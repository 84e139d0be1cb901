import type { Check } from './objects.ts';

/** As it is, in URLs, in JSON, and in base64 at the beginning of a text. */
const spellings = (value: string): string[] => [
  value,
  encodeURIComponent(value),
  JSON.stringify(value).slice(1, -1),
  Buffer.from(value).toString('base64').replace(/.?=*$/u, ''),
];

/** 10: no secret is shown anywhere. */
export const noSecrets: Check = ({ secrets, texts }) => {
  const known = secrets.map(({ name, value }) => ({ name, spellings: spellings(value) }));
  return texts.flatMap(({ where, text }) => [
    ...known
      .filter((secret) => secret.spellings.some((spelling) => text.includes(spelling)))
      .map(({ name }) => `${where} shows the secret ${name}`),
    ...(/\bgAAAAA[\w-]{40,}/u.test(text) ? [`${where} shows a token of Keystone`] : []),
    ...(/\beyJhbGciOi[\w-]{20,}\./u.test(text) ? [`${where} shows a token of a service account`] : []),
  ]);
};
