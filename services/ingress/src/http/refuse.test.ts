import { type ProviderKind, ProviderKind as Providers } from '@backstop/contracts'
import { SIGNERS } from '@backstop/providers/test'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectionDocument } from '../../test/connection-documents.ts'
import { expectProblem } from '../../test/expect-problem.ts'
import { type HttpAnswer, post } from '../../test/http-client.ts'
import { credentialOf, eventOf, type MemoryIngress, SECRETS, startMemoryIngress } from '../../test/memory-ingress.ts'

let ingress: MemoryIngress
beforeAll(async () => {
  ingress = await startMemoryIngress()
  ingress.connections.save(
    connectionDocument('con_ended', 'processor', [{ secret: SECRETS.processor, expiresAt: new Date(0) }]),
  )
  ingress.connections.save(connectionDocument('con_deleted', 'processor', [SECRETS.processor], { status: 'deleted' }))
})
afterAll(() => ingress.stop())

const urlOf = (path: string) => `${ingress.base}/v1/webhooks/${path}`
const storedCount = () =>
  Providers.options.reduce((sum, provider) => sum + ingress.bus.stored(`inbound.${provider}`).length, 0)
const lastReason = () => ingress.lines.at(-1)?.reason
/** The parts of an answer that a caller can see, except for the date. */
const visibleParts = ({ status, headers: { date, ...headers }, body }: HttpAnswer) => ({ status, headers, body })

interface Unauthentic {
  readonly name: string
  readonly reason: string
  readonly provider?: ProviderKind
  readonly id?: string
  readonly headers?: (body: Buffer, good: Record<string, string>) => Record<string, string | string[]>
}

const MINUTE_MS = 60_000
const everyProvider: Unauthentic[] = [
  { name: 'no credential', reason: 'credential_missing', headers: () => ({}) },
  { name: 'an unknown connection', reason: 'unknown_connection', id: 'con_unknown' },
  {
    name: 'an unknown connection and no credential',
    reason: 'unknown_connection',
    id: 'con_unknown',
    headers: () => ({}),
  },
  { name: 'a connection id that is none', reason: 'unknown_connection', id: '%2e%2e%00' },
  {
    name: 'the credential in another header',
    reason: 'credential_missing',
    headers: (_body, good) => ({ 'x-signature': Object.values(good)[0]! }),
  },
  {
    name: 'the credential twice',
    reason: 'credential_repeated',
    headers: (_body, good) => Object.fromEntries(Object.entries(good).map(([name, value]) => [name, [value, value]])),
  },
  {
    name: 'a credential of 4097 characters',
    reason: 'credential_too_long',
    headers: (_body, good) => ({ [Object.keys(good)[0]!]: 'x'.repeat(4097) }),
  },
]
const forSigning = (provider: 'processor' | 'reseller', alias: string): Unauthentic[] => [
  {
    name: "another one's secret",
    reason: 'signature_mismatch',
    headers: body => ({
      [SIGNERS[provider].header]: SIGNERS[provider].sign(body, ['whsec_not-the-secret'], Date.now()),
    }),
  },
  {
    name: 'a signature over another body',
    reason: 'signature_mismatch',
    headers: () => credentialOf(provider, 'another body'),
  },
  {
    name: 'a signature of 6 minutes ago',
    reason: 'timestamp_too_old',
    headers: body => credentialOf(provider, body, Date.now() - 6 * MINUTE_MS),
  },
  {
    name: 'a signature of in 6 minutes',
    reason: 'timestamp_in_future',
    headers: body => credentialOf(provider, body, Date.now() + 6 * MINUTE_MS),
  },
  {
    name: 'the signature under both of its names',
    reason: 'credential_repeated',
    headers: (_body, good) => ({ ...good, [alias]: Object.values(good)[0]! }),
  },
  {
    name: 'a header that is no signature',
    reason: 'timestamp_missing',
    headers: () => ({ [SIGNERS[provider].header]: 'x' }),
  },
]
const CASES: Readonly<Record<ProviderKind, Unauthentic[]>> = {
  processor: [
    ...everyProvider,
    ...forSigning('processor', 'stripe-signature'),
    { name: 'a deleted connection', reason: 'unknown_connection', id: 'con_deleted' },
    { name: 'a connection whose secrets have ended', reason: 'no_usable_secret', id: 'con_ended' },
    { name: "another provider's connection", reason: 'wrong_provider', id: 'con_reseller' },
  ],
  reseller: [
    ...everyProvider,
    ...forSigning('reseller', 'paddle-signature'),
    { name: "another provider's connection", reason: 'wrong_provider', id: 'con_processor' },
  ],
  subscription: [
    ...everyProvider,
    {
      name: 'a wrong password',
      reason: 'password_mismatch',
      headers: () => ({ authorization: `Basic ${Buffer.from('service:wrong').toString('base64')}` }),
    },
    {
      name: 'another user',
      reason: 'password_mismatch',
      headers: () => ({ authorization: `Basic ${Buffer.from(`admin:${SECRETS.subscription}`).toString('base64')}` }),
    },
    { name: 'another scheme', reason: 'credential_malformed', headers: () => ({ authorization: 'Bearer abcdefgh' }) },
    { name: "another provider's connection", reason: 'wrong_provider', id: 'con_processor' },
  ],
}
const REFUSALS = {
  processor: { status: 400, code: 'signature_rejected' },
  reseller: { status: 400, code: 'signature_rejected' },
  subscription: { status: 401, code: 'unauthenticated' },
} as const

describe.each(Providers.options)('an unauthentic notification at the %s', provider => {
  const seen: ReturnType<typeof visibleParts>[] = []

  test.each(CASES[provider])('is refused: $name', async ({ id, headers, reason }) => {
    const before = storedCount()
    const body = Buffer.from(JSON.stringify(eventOf(provider, 'evt_bad')))
    const good = credentialOf(provider, body)
    const answer = await post(urlOf(`${provider}/${id ?? `con_${provider}`}`), body, headers?.(body, good) ?? good)
    expectProblem(answer, REFUSALS[provider].status, REFUSALS[provider].code)
    expect(lastReason()).toBe(reason)
    expect(storedCount()).toBe(before)
    seen.push(visibleParts(answer))
  })

  test('the answer has the same bytes whichever check failed, and whether or not the connection exists', () => {
    expect(seen.length).toBe(CASES[provider].length)
    for (const each of seen) expect(each).toEqual(seen[0])
    const { headers } = seen[0]!
    expect(headers['www-authenticate']).toBe(
      provider === 'subscription' ? 'Basic realm="backstop", charset="UTF-8"' : undefined,
    )
  })

  test('is refused before its body is parsed: garbage gets the same answer as an event', async () => {
    const answer = await post(urlOf(`${provider}/con_${provider}`), Buffer.from([0xff, 0x00, 0x7b]))
    expect(visibleParts(answer)).toEqual(seen[0])
  })
})

// The secret of another row cannot be opened, as if SECRET_KEYS were wrong.
describe.each(Providers.options)('a notification to the %s whose secret this process cannot open', provider => {
  const notify = (secrets: 'unusable' | 'also_a_usable_one', headers?: Record<string, string>) => {
    const [moved] = connectionDocument('con_other', provider, [SECRETS[provider]]).inbound_secrets
    const [good] = connectionDocument('con_unreadable', provider, [SECRETS[provider]]).inbound_secrets
    const inbound_secrets = secrets === 'unusable' ? [moved!] : [moved!, good!]
    ingress.connections.save(connectionDocument('con_unreadable', provider, [], { inbound_secrets }))
    const body = JSON.stringify(eventOf(provider, 'evt_unreadable'))
    return post(urlOf(`${provider}/con_unreadable`), body, headers ?? credentialOf(provider, body))
  }

  test('is answered 503, so that the provider sends it again', async () => {
    expectProblem(await notify('unusable'), 503, 'unavailable', '30')
    expect(lastReason()).toBe('secret_unusable')
  })

  test('is received if another secret matches', async () => {
    expect(await notify('also_a_usable_one')).toMatchObject({ status: 200 })
  })

  test('is refused as unauthentic without a credential, which no secret could match', async () => {
    expect(await notify('unusable', {})).toMatchObject({ status: REFUSALS[provider].status })
  })
})

describe('an authentic body that is no event of its provider', () => {
  const bom = Buffer.from([0xef, 0xbb, 0xbf])
  const good = (provider: ProviderKind) => JSON.stringify(eventOf(provider, 'evt_x'))
  test.each([
    { provider: 'processor', name: 'nothing', body: '', reason: 'not_json' },
    { provider: 'processor', name: 'text', body: 'hello', reason: 'not_json' },
    { provider: 'processor', name: '[]', body: '[]', reason: 'not_an_object' },
    { provider: 'processor', name: 'null', body: 'null', reason: 'not_an_object' },
    {
      provider: 'processor',
      name: 'a byte order mark',
      body: Buffer.concat([bom, Buffer.from(good('processor'))]),
      reason: 'not_json',
    },
    {
      provider: 'processor',
      name: 'invalid UTF-8',
      body: Buffer.from(good('processor').replace('evt_x', 'evt_\xff'), 'latin1'),
      reason: 'not_utf8',
    },
    { provider: 'processor', name: 'two documents', body: `${good('processor')}{}`, reason: 'not_json' },
    {
      provider: 'processor',
      name: 'an attempt to close the envelope',
      body: `${good('processor')},"project_id":"prj_other"`,
      reason: 'not_json',
    },
    {
      provider: 'processor',
      name: 'a thin event without id',
      body: '{"object":"v2.core.event","type":"v1.refund.created"}',
      reason: 'id_unusable',
    },
    { provider: 'processor', name: 'another object', body: '{"id":"re_1","object":"refund"}', reason: 'not_an_event' },
    { provider: 'processor', name: 'no id', body: '{"object":"event","type":"x"}', reason: 'id_unusable' },
    {
      provider: 'processor',
      name: 'an id with a line break',
      body: '{"id":"a\\r\\nb","object":"event","type":"x"}',
      reason: 'id_unusable',
    },
    { provider: 'processor', name: 'no type', body: '{"id":"evt_1","object":"event"}', reason: 'type_unusable' },
    { provider: 'reseller', name: "the processor's event", body: good('processor'), reason: 'id_unusable' },
    { provider: 'reseller', name: 'no type', body: '{"event_id":"evt_1"}', reason: 'type_unusable' },
    { provider: 'subscription', name: 'no id', body: '{"event_type":"x"}', reason: 'id_unusable' },
    { provider: 'subscription', name: 'no type', body: '{"id":"ev_1"}', reason: 'type_unusable' },
  ] as const)('is refused at the $provider: $name', async ({ provider, body, reason }) => {
    const before = storedCount()
    const answer = await post(urlOf(`${provider}/con_${provider}`), body, credentialOf(provider, body))
    expectProblem(answer, 400, 'malformed_event')
    expect(lastReason()).toBe(reason)
    expect(storedCount()).toBe(before)
  })
})

describe('garbage', () => {
  test('of any kind neither stops the service nor reaches a topic', async () => {
    const before = storedCount()
    const anything = fc.uint8Array({ maxLength: 300 }).map(bytes => Buffer.from(bytes))
    const header = fc.stringMatching(/^[\x21-\x7e]{0,200}$/)
    const provider = fc.constantFrom(...Providers.options)
    await fc.assert(
      fc.asyncProperty(provider, anything, header, async (kind, body, value) => {
        const answer = await post(urlOf(`${kind}/con_${kind}`), body, { [SIGNERS[kind].header]: value })
        expect(answer.status).toBe(REFUSALS[kind].status)
      }),
      { numRuns: 300 },
    )
    expect(storedCount()).toBe(before)
    expect(await ingress.postEvent('processor', 'evt_after')).toMatchObject({ status: 200 })
  })
})

describe('an unknown connection', () => {
  test('takes as long as a wrong secret: the signature of a large body is computed', async () => {
    // Without the dummy secret, the request to the unknown connection would skip the hash over a megabyte, which takes most of the time.
    const body = Buffer.alloc(1_000_000, 0x20)
    const headerValues = [SIGNERS.processor.sign(body, ['whsec_not-the-secret'], Date.now())]
    const taken = async (connectionId: string) => {
      const began = performance.now()
      await ingress.app.intake.receive({
        provider: 'processor',
        connectionId,
        headerValues,
        traceparent: undefined,
        body,
      })
      return performance.now() - began
    }
    const times = { known: [] as number[], unknown: [] as number[] }
    for (let round = 0; round < 60; round += 1) {
      times.known.push(await taken('con_processor'))
      times.unknown.push(await taken('con_unknown'))
    }
    const median = (all: number[]) => all.sort((a, b) => a - b)[all.length / 2]!
    expect(median(times.unknown) / median(times.known)).toBeGreaterThan(0.5)
    expect(median(times.unknown) / median(times.known)).toBeLessThan(2)
  })
})
