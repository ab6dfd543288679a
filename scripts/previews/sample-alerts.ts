import { SAMPLE_ALERTS } from '@backstop/channels'
import {
  sampleAction,
  sampleBurst,
  sampleBurstEnd,
  sampleCanary,
  sampleChannelIncident,
  sampleConnectionIncident,
  sampleFailingChannel,
  sampleRefundedTwice,
} from '@backstop/channels/test'
import type { Alert } from '@backstop/contracts'
import { awkwardAlert } from './awkward-alert.ts'

const SUBSCRIPTION = { kind: 'cancellation', amount: null, currency: null, provider_ref: null } as const
const NOT_REPORTED = { rule: 'Nothing explains it', candidates: [], read_back: null }
const BY_NOBODY = { channel: null, key_name: null, user: null, request_id: null, idempotency_key: null } as const

/** Alerts for previews: each event, and the forms of an incident that differ most. */
export function previewedAlerts(): { name: string; alert: Alert }[] {
  return [
    ...Object.entries(SAMPLE_ALERTS).map(([name, make]) => ({ name, alert: make() })),
    { name: 'incident.opened.channel-disabled', alert: sampleChannelIncident() },
    { name: 'incident.opened.channel-failing', alert: sampleFailingChannel() },
    { name: 'incident.opened.feed-silent', alert: sampleConnectionIncident('FEED_SILENT') },
    { name: 'incident.opened.unverified', alert: sampleConnectionIncident('VERIFICATION_UNAVAILABLE') },
    { name: 'incident.opened.refunded-twice', alert: sampleRefundedTwice() },
    { name: 'incident.opened.burst', alert: sampleBurst() },
    { name: 'incident.resolved.burst', alert: sampleBurstEnd('explained') },
    { name: 'storm.reported.of-burst', alert: confirmation() },
    { name: 'incident.opened.canary-used', alert: sampleCanary() },
    { name: 'incident.opened.test-mode', alert: sampleAction({ mode: 'test' }) },
    {
      name: 'incident.opened.dashboard-cancellation',
      alert: sampleAction({
        ...SUBSCRIPTION,
        provider: 'subscription',
        subject: 'AzZlGRSb1Yh2v3kM',
        state: 'scheduled',
        why: NOT_REPORTED,
        origin: { ...BY_NOBODY, channel: 'dashboard', user: 'sam@acme.example' },
        payment: { number: '8841', plan: 'Premium, yearly', refund_reason: null, destination: null },
        links: { provider: 'https://acme.chargebee.com/d/subscriptions/AzZlGRSb1Yh2v3kM', console: null },
      }),
    },
    {
      name: 'incident.opened.unknown-origin',
      alert: sampleAction({
        provider: 'reseller',
        subject: 'txn_01hv8wptq8987qeep44cyrewp9',
        why: NOT_REPORTED,
        provider_ref: 'adj_01hvgf2s84dr6reszzg29zbvcm',
        origin: BY_NOBODY,
        customer: { id: 'ctm_01grnn4zta5a1mf02jjze7y2ys', name: null, email: null },
        payment: { number: null, plan: null, refund_reason: null, destination: null },
        links: { provider: null, console: null },
      }),
    },
    {
      name: 'incident.opened.taken-back',
      alert: sampleAction({
        ...SUBSCRIPTION,
        subject: 'sub_1QK5vLAbCdEfGhIj',
        state: 'canceled',
        subscription_continues: true,
        why: NOT_REPORTED,
        links: { provider: 'https://dashboard.stripe.com/subscriptions/sub_1QK5vLAbCdEfGhIj', console: null },
      }),
    },
    {
      name: 'incident.opened.released',
      alert: sampleAction({
        state: 'canceled',
        authorization_released: true,
        why: NOT_REPORTED,
        account: 'acct_1QK5vLAb',
        links: { provider: null, console: null },
      }),
    },
    { name: 'incident.opened.awkward', alert: awkwardAlert() },
  ]
}

/** The first report about the storm in which the sampled burst continues. */
function confirmation(): Alert {
  const sample = SAMPLE_ALERTS['storm.reported']()
  const { incident } = (sampleBurst() as Extract<Alert, { event: 'incident.opened' }>).data
  const bursts = [{ incident_id: incident.incident_id, opened_at: incident.opened_at, count: 12 }]
  return { ...sample, data: { ...sample.data, storm: { ...sample.data.storm, report: 1, bursts } } }
}
