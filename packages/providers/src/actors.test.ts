import { readFileSync } from 'node:fs'
import { actorOf, type ProviderKind } from '@backstop/contracts'
import { expect, test } from 'vitest'
import { PROVIDERS } from './registry.ts'

const T0 = 1_795_000_000
const origin = { projectId: 'prj_1', connectionId: 'con_1' }
const read = { ...origin, site: 'acme-test', readAt: T0 * 1_000 }
const refund = { id: 're_1', object: 'refund', amount: 100, currency: 'eur', charge: 'ch_1', status: 'succeeded' }
const PREFIXES = ['bill', 'billing-']

type Named = readonly [kind: string, label: string | null] | null

function actorIn(
  provider: ProviderKind,
  meaning: ReturnType<(typeof PROVIDERS)['processor']['normaliseEvent']>,
): Named {
  if (meaning.kind !== 'observed') throw new Error(`${provider}: the event is ${meaning.kind}`)
  const made = meaning.sightings[0]?.details?.origin
  const actor = made && actorOf(made, PREFIXES)
  return actor === undefined ? null : [actor.kind, actor.label]
}

/** The actor of a refund of the processor, by its event. */
function byEvent(request: object | null): Named {
  const event = { id: 'evt_1', object: 'event', type: 'refund.created', created: T0, livemode: true, request }
  const body = { ...event, data: { object: { ...refund, created: T0 } } }
  const at = { ...origin, eventId: 'evt_1', eventType: 'refund.created' }
  return actorIn('processor', PROVIDERS.processor.normaliseEvent(at, body))
}

/** The actor of an end of a subscription that no request caused. */
function byEnd(reason: string): Named {
  const subscription = { id: 'sub_1', object: 'subscription', status: 'canceled', canceled_at: T0, ended_at: T0 }
  const event = { id: 'evt_3', object: 'event', type: 'customer.subscription.deleted', created: T0, livemode: true }
  const request = { id: null, idempotency_key: null }
  const body = { ...event, request, data: { object: { ...subscription, cancellation_details: { reason } } } }
  const at = { ...origin, eventId: 'evt_3', eventType: event.type }
  return actorIn('processor', PROVIDERS.processor.normaliseEvent(at, body))
}

/** The actor of a refund of the processor, by a thin event that was read with its object. */
function byThin(client: object | undefined): Named {
  const reason = { type: 'request', request: { id: 'req_1', idempotency_key: 'billing-1', client } }
  const event = { id: 'evt_2', object: 'v2.core.event', type: 'v1.refund.created', livemode: true, reason }
  const body = { ...event, data: { object: { ...refund, created: T0 } } }
  return actorIn('processor', PROVIDERS.processor.normaliseObject(read, 'event', body))
}

/** The actor of a refund of the biller, by its event. */
function byBiller(source: string, user?: string): Named {
  const transaction = { id: 'txn_1', type: 'refund', status: 'success', amount: 100, currency_code: 'EUR', date: T0 }
  const content = { transaction: { ...transaction, subscription_id: 'sub_1', updated_at: T0, resource_version: T0 } }
  const event = { id: 'ev_1', event_type: 'payment_refunded', occurred_at: T0, source, origin_user: 'ana', content }
  const body = { ...event, ...(user === undefined ? {} : { user }) }
  return actorIn('subscription', PROVIDERS.subscription.normaliseObject(read, 'event', body))
}

function byReseller(): Named {
  const data = { id: 'adj_1', action: 'refund', transaction_id: 'txn_1', subscription_id: null, customer_id: 'ctm_1' }
  const more = { reason: 'x', currency_code: 'EUR', status: 'approved', totals: { total: '100' }, items: [] }
  const times = { created_at: '2026-11-21T10:00:00.000Z', updated_at: '2026-11-21T10:00:00.000Z' }
  const event = { event_id: 'evt_1', event_type: 'adjustment.created', occurred_at: times.created_at }
  const at = { ...origin, eventId: 'evt_1', eventType: 'adjustment.created' }
  return actorIn('reseller', PROVIDERS.reseller.normaliseEvent(at, { ...event, data: { ...data, ...more, ...times } }))
}

/** The lines of the table in docs/decisions/actors.md, each with what the code says. */
const LINES: readonly (readonly [provider: ProviderKind, sends: string, ...Named[]])[] = [
  [
    'processor',
    'thin event that was read, `reason.request.client.dashboard_user.email`',
    byThin({ dashboard_user: { email: 'ana@example.com' } }),
  ],
  [
    'processor',
    'thin event, `client.dashboard_user` without an address',
    byThin({ dashboard_user: { ip_address: '192.0.2.1' } }),
  ],
  ['processor', 'thin event, `client.stripe_action`', byThin({ type: 'stripe_action', stripe_action: {} })],
  ['processor', 'thin event, `client.api_key.id`', byThin({ api_key: { id: 'mk_1' } })],
  [
    'processor',
    'a request whose idempotency key begins with a declared prefix',
    byThin(undefined),
    byThin({ robot: 1 }),
    byEvent({ id: 'req_1', idempotency_key: 'billing-1' }),
  ],
  [
    'processor',
    'any other request',
    byEvent({ id: 'req_1', idempotency_key: 'other-1' }),
    byEvent({ id: 'req_1', idempotency_key: null }),
  ],
  [
    'processor',
    'no request, and `cancellation_details.reason` or another field that only the processor sets says that it acted',
    byEnd('payment_failed'),
  ],
  ['processor', 'no request, and nothing says more', byEvent({ id: null, idempotency_key: null })],
  ['subscription', '`source` is `admin_console`, with `user`', byBiller('admin_console', 'ana@example.com')],
  ['subscription', '`source` is `admin_console`, without `user`', byBiller('admin_console')],
  [
    'subscription',
    '`source` is `api`, `js_api` or `bulk_operation`, with `user`',
    ...['api', 'js_api', 'bulk_operation'].map(source => byBiller(source, 'nightly-job')),
  ],
  ['subscription', '`source` is `hosted_page` or `portal`', byBiller('hosted_page'), byBiller('portal')],
  ['subscription', '`source` is `scheduled_job` or `system`', byBiller('scheduled_job'), byBiller('system')],
  [
    'subscription',
    'any other `source`',
    ...['none', 'migration', 'external_service', 'new'].map(source => byBiller(source)),
  ],
  ['reseller', 'anything: its objects do not say who made them', byReseller()],
]

/** What the last cell of a line says for the label of its example. */
const LABELS: Readonly<Record<string, string>> = {
  'the e-mail address': 'ana@example.com',
  'the id of the key': 'mk_1',
  'the longest prefix that fits': 'billing-',
  '`user`': 'ana@example.com',
  '`user`, the name of the key': 'nightly-job',
}

test('the table of actors in docs/decisions/actors.md is what the code says of the shapes of each provider', () => {
  const page = readFileSync(new URL('../../../docs/decisions/actors.md', import.meta.url), 'utf8')
  const rows = page.split('\n').filter(line => /^\| `(processor|subscription|reseller)`/.test(line))
  const stated = rows.map(row =>
    row
      .split('|')
      .slice(1, -1)
      .map(cell => cell.trim()),
  )
  const known = stated.map(([provider, sends, kind = '', label = '']) => {
    const named: Named = kind === 'none' ? null : [kind.replaceAll('`', ''), LABELS[label] ?? null]
    return [provider?.replaceAll('`', ''), sends, named]
  })
  const expected = LINES.map(([provider, sends, ...actors]) => {
    expect(new Set(actors.map(actor => JSON.stringify(actor))).size, sends).toBe(1)
    return [provider, sends, actors[0]]
  })
  expect(known).toEqual(expected)
})
