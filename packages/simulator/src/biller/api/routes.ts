/** The answers of the biller's API by path, without HTTP. */
import type { Posting } from '../../account/event-feed.ts'
import type { View } from '../../account/object-history.ts'
import type { ApiCall } from '../../api/provider-api.ts'
import { type Resource, readResource } from '../../api/resources.ts'
import type { Biller } from '../account.ts'
import type { BillerRecords } from '../account-state.ts'
import type { BillerEvent } from '../events.ts'
import type { BillerSubscription } from '../objects/subscription.ts'
import { BillerRefusal, notFound } from '../refusal.ts'
import { filtered } from './filters.ts'
import { pageOf } from './page.ts'
import { answerWrite } from './writes.ts'

/** The age in seconds up to which events can be filtered by webhook_status. */
const STATUS_FILTER_DAYS_S = 6 * 86_400

const words = (text: string) => text.split(' ')
const SUBSCRIPTION_FILTERS = words(
  'id customer_id status cancel_reason cancel_reason_code cancelled_at created_at activated_at next_billing_at updated_at remaining_billing_cycles',
)
const EVENT_FILTERS = words('id event_type occurred_at source webhook_status')

const TRANSACTIONS = resource(
  ({ transactions }) => transactions,
  'transaction',
  'id customer_id subscription_id payment_method gateway id_at_gateway type date amount status updated_at reference_number',
  'date amount updated_at',
)
const CREDIT_NOTES = resource(
  ({ creditNotes }) => creditNotes,
  'credit_note',
  'id customer_id subscription_id reference_invoice_id type reason_code status date total updated_at amount_refunded amount_available channel',
  'date',
)
const INVOICES = resource(
  ({ invoices }) => invoices,
  'invoice',
  'id customer_id subscription_id status date',
  'date updated_at',
)

const RESOURCES = new Map<string, Resource<BillerRecords>>([
  ['transactions', TRANSACTIONS],
  ['credit_notes', CREDIT_NOTES],
  ['invoices', INVOICES],
  ['subscriptions', { list: listSubscriptions, get: (of, id) => withBuyer(of, of.subscriptions.existing(id)) }],
  ['customers', { get: ({ customers }, id) => ({ customer: customers.existing(id) }) }],
  ['events', { list: listEvents, get: getEvent }],
])

/**
 * Answers one call with the objects that can be read.
 * @param keyNames the name of each key, which events show
 * @throws BillerRefusal if the API refuses the request
 */
export function answerCall(biller: Biller, call: ApiCall, keyNames: Readonly<Record<string, string>>): object {
  const [api, version, ...path] = call.path.split('/').slice(1).map(decodeURIComponent)
  if (api === 'api' && version === 'v2' && path.length <= 3) {
    const body =
      call.method === 'GET'
        ? readResource(RESOURCES, biller.asOf(call.readAtMs), withoutView(path), call)
        : answerWrite(biller, path, call, keyNames)
    if (body !== undefined) return body
  }
  throw new BillerRefusal(404, 'site_not_found', 'Sorry, the requested path is not found', { type: 'invalid_request' })
}

/** A subscription can also be read with its scheduled changes, which the simulator does not keep apart. */
function withoutView(path: readonly string[]): readonly string[] {
  return path[0] === 'subscriptions' && path[2] === 'retrieve_with_scheduled_changes' ? path.slice(0, 2) : path
}

/**
 * @param name the type of object, in which answers wrap each object
 * @param filters the fields by which the list can be filtered
 * @param sortable the fields by which it can be sorted, the default first
 */
function resource(
  viewOf: (records: BillerRecords) => View<{ id: string }>,
  name: string,
  filters: string,
  sortable: string,
): Resource<BillerRecords> {
  return {
    list(records, { query }) {
      const found = filtered(viewOf(records).all(), query, words(filters))
      return pageOf(found, query, words(sortable), item => ({ [name]: item }))
    },
    get: (records, id) => ({ [name]: viewOf(records).existing(id) }),
  }
}

function listSubscriptions(records: BillerRecords, { query }: ApiCall): object {
  const found = filtered(records.subscriptions.all(), query, SUBSCRIPTION_FILTERS)
  return pageOf(found, query, ['created_at', 'updated_at'], item => withBuyer(records, item))
}

function withBuyer(records: BillerRecords, subscription: BillerSubscription): object {
  return { subscription, customer: records.customers.get(subscription.customer_id) }
}

function listEvents(records: BillerRecords, { query, nowMs }: ApiCall): object {
  const byStatus = [...query.keys()].some(name => name.startsWith('webhook_status['))
  const earliest = nowMs / 1000 - STATUS_FILTER_DAYS_S
  const shown = (event: BillerEvent) => readEvent(records, event)
  const events = byStatus
    ? records
        .events()
        .filter(event => event.occurred_at > earliest)
        .map(shown)
    : records.events()
  return pageOf(filtered(events, query, EVENT_FILTERS), query, ['occurred_at'], event => ({
    event: byStatus ? event : shown(event),
  }))
}

function getEvent(records: BillerRecords, id: string): object {
  const event = records.events().find(one => one.id === id)
  if (event === undefined) throw notFound(id)
  return { event: readEvent(records, event) }
}

const WEBHOOK_STATUS: Record<Posting, BillerEvent['webhook_status']> = {
  unposted: 'not_configured',
  skipped: 'skipped',
  scheduled: 'scheduled',
  succeeded: 'succeeded',
  failed: 'failed',
}

/** An event with the result of posting it. */
function readEvent(records: BillerRecords, event: BillerEvent): BillerEvent {
  const posting = records.postingOf(event)
  const webhook_status = WEBHOOK_STATUS[posting]
  const webhooks = posting === 'unposted' ? [] : [{ id: 'whv2_16BthSM04GsW8lyy', webhook_status }]
  return { ...event, webhook_status, webhooks }
}
