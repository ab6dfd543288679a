import { readFileSync } from 'node:fs'
import { EVENTS_TO_TICK } from '@backstop/client/setup-steps'
import { expect, test } from 'vitest'
import { setupText } from './setup-steps.ts'

const KINDS = ['processor', 'reseller', 'subscription'] as const
const connection = (kind: (typeof KINDS)[number]) => ({
  connection_id: 'con_1',
  kind,
  inbound_url: 'https://in.example.com/v1/inbound/con_1',
  has_read_key: false,
})

test.each(KINDS)('the events to tick at a %s are those of its page in docs/decisions', kind => {
  const page = readFileSync(new URL(`../../../../docs/decisions/${kind}.md`, import.meta.url), 'utf8')
  const [, listed = ''] = /^Subscribe to: ([^.]*(?:\.[^.\s][^.]*)*)\.\n/m.exec(page) ?? []
  expect([...listed.matchAll(/`([^`]+)`/g)].map(([, event]) => event)).toEqual(EVENTS_TO_TICK[kind])
})

test.each(KINDS)('the steps at a %s name the URL, every event and the secret that the provider needs', kind => {
  const secrets = {
    processor: {},
    reseller: {},
    subscription: { username: 'service', password: 'pw_1' },
  }
  const steps = setupText(connection(kind), secrets[kind])
  for (const text of [
    'https://in.example.com/v1/inbound/con_1',
    ...EVENTS_TO_TICK[kind],
    ...Object.values(secrets[kind]),
  ]) {
    expect(steps).toContain(text)
  }
})

test('the steps ask for a read key only if the connection has none', () => {
  expect(setupText(connection('processor'))).toContain('read-only API key')
  expect(setupText({ ...connection('processor'), has_read_key: true })).not.toContain('read-only API key')
})
