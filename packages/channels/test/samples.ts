import { type Action, type Alert, type Burst, type Incident, incidentAlertId } from '@backstop/contracts'
import { SAMPLE_ALERTS, SAMPLE_READER } from '../src/alert-text/sample-alerts.ts'
import type { MessageSetting } from '../src/channel.ts'

/** The sample of `incident.opened` with changed facts about its incident. */
export function sampleIncident(facts: Partial<Incident> = {}): Alert {
  return opened('prj_sample', facts)
}

/** The sample of `incident.opened` with changed facts about its action. */
export function sampleAction(facts: Partial<Action> = {}): Alert {
  const { data, ...alert } = SAMPLE_ALERTS['incident.opened']()
  return { ...alert, data: { ...data, action: data.action && { ...data.action, ...facts } } }
}

/** The alert about a refund that software made twice. */
export function sampleRefundedTwice(action: Partial<Action> = {}, incident: Partial<Incident> = {}): Alert {
  const operation_id = 'op_7c1m4x9p2k6t8w3z'
  const { data } = SAMPLE_ALERTS['incident.opened']()
  const summary =
    'A refund of EUR 1,249.90 on pi_3QK5vLAbCdEfGhIj0aBcDeFg was made twice, by operation op_3v8qk2x9m1s7d5f0 (re_3QK5vLAbCdEfGhIj0aAaAaA) and again by operation op_7c1m4x9p2k6t8w3z (re_3QK5vLAbCdEfGhIj0xYzAbCd)'
  const explained = { verdict: 'explained', reason: 'provider_ref_matches', operation_id } as const
  const why = { rule: 'An operation names it', candidates: [], read_back: null }
  return opened(
    'prj_sample',
    {
      code: 'REFUNDED_TWICE',
      summary,
      refunded_twice: {
        operation_id,
        earlier: {
          action_id: 'act_5d8f1g4h7j0k3l6z',
          provider_ref: 're_3QK5vLAbCdEfGhIj0aAaAaA',
          operation_id: 'op_3v8qk2x9m1s7d5f0',
          provider_created_at: '2026-11-21T09:58:09.000Z',
        },
      },
      ...incident,
    },
    { action: data.action && { ...data.action, ...explained, why, ...action } },
  )
}

const BURST: Burst = {
  provider: 'subscription',
  count: 12,
  first_at: '2026-11-21T09:59:55.000Z',
  last_at: '2026-11-21T09:59:58.000Z',
  per_minute: 72,
  kinds: [{ kind: 'refund', count: 12 }],
  money: [
    { currency: 'eur', amount: 59_880, count: 11, mode: 'live' },
    { currency: 'usd', amount: 4_990, count: 1, mode: 'live' },
  ],
  looks_at: '2026-11-21T10:00:55.000Z',
  last_look_at: '2026-11-21T10:00:58.000Z',
  common: {
    channel: { value: 'api', count: 12 },
    key_name: { value: 'Billing server', count: 12 },
    user: null,
    customer: null,
    subject: null,
    amount: { value: 4_990, currency: 'eur', count: 10 },
    refund_reason: null,
  },
  why: {
    rule: '12 actions are unexplained for longer than 400 ms, the usual wait of this connection; 10 or more give the alarm',
    usual_wait_ms: 400,
    usual_late_per_minute: 0,
    late: 12,
    threshold: 10,
  },
}

type BurstEvent = 'incident.opened' | 'incident.acknowledged' | 'incident.resolved'

/** An alert about a burst: unusually many actions that nothing explains so far. */
export function sampleBurst(
  burst: Partial<Burst> = {},
  incident: Partial<Incident> = {},
  event: BurstEvent = 'incident.opened',
): Alert {
  const { data, ...alert } = SAMPLE_ALERTS['incident.opened']()
  const about: Incident = {
    ...data.incident,
    incident_id: 'inc_4k7m0q3v6x9b2d5g',
    code: 'UNEXPLAINED_BURST',
    summary: '12 refunds on connection "Shop Germany" that nothing explains so far, 12 within 3 seconds',
    action_id: null,
    out_of_band: null,
    storm_id: 'stm_7h1c5v9q3x6m0k2d',
    burst: { ...BURST, ...burst },
    ...incident,
  }
  return {
    ...alert,
    event,
    alert_id: incidentAlertId(about.incident_id, event),
    data: { ...data, incident: about, action: null },
  }
}

/** The end of a burst: whether the second looks explain its actions or confirm that nothing does. */
export function sampleBurstEnd(outcome: NonNullable<Burst['outcome']>, incident: Partial<Incident> = {}): Alert {
  const resolution =
    outcome === 'explained'
      ? '12 of 12 actions were explained or need no explanation'
      : 'Nothing explains 12 of 12 actions'
  const end = { state: 'resolved' as const, resolved_at: '2026-11-21T10:01:02.000Z', resolution, version: 2 }
  return sampleBurst({ outcome }, { ...end, ...incident }, 'incident.resolved')
}

/** The alert about a refund by a canary. */
export function sampleCanary(action: Partial<Action> = {}, incident: Partial<Incident> = {}): Alert {
  const { data } = SAMPLE_ALERTS['incident.opened']()
  const summary =
    'A refund of EUR 1,249.90 on pi_3QK5vLAbCdEfGhIj0aBcDeFg was made by a canary, an API key or user that is kept only as a trap'
  const by = { channel: 'api', key_name: 'mk_1QfR8s', user: null, request_id: null, idempotency_key: null } as const
  const pending = { verdict: 'pending', reason: 'awaiting_second_look', operation_id: null } as const
  return opened(
    'prj_sample',
    { code: 'CANARY_USED', summary, out_of_band: null, actor_id: 'acr_sample', ...incident },
    {
      action: data.action && {
        ...data.action,
        ...pending,
        ...{ actor_id: 'acr_sample', actor_name: 'Old backup key', origin: by, ...action },
      },
    },
  )
}

const CONNECTION_SUMMARIES = {
  FEED_SILENT:
    'Connection "Shop Germany": the provider lists 3 events that did not arrive, the first of 2026-11-21T09:40:00.000Z',
  VERIFICATION_UNAVAILABLE:
    'Connection "Shop Germany": its notifications could not be checked since 2026-11-21T09:45:00.000Z: the provider refused the read key. They are kept, and checked as soon as the provider can be read',
}

/** The alert about a connection whose notifications do not arrive, or cannot be verified. */
export function sampleConnectionIncident(
  code: keyof typeof CONNECTION_SUMMARIES,
  summary = CONNECTION_SUMMARIES[code],
): Alert {
  return opened('prj_sample', { code, summary, action_id: null, out_of_band: null }, { action: null })
}

/** The alert about a channel that was disabled because it failed. */
export function sampleChannelIncident(projectId = 'prj_sample'): Alert {
  const summary =
    'The alert channel "On call" was disabled: The receiver answered 410 Gone, which means no more deliveries; set another URL, then enable the channel again'
  return withoutConnection(projectId, { channel_id: 'chn_sample', code: 'CHANNEL_DISABLED', summary })
}

/** The alert about a channel that delivers nothing. */
export function sampleFailingChannel(projectId = 'prj_sample'): Alert {
  const summary =
    'The alert channel "On call" delivers nothing: No alert has arrived there since 2026-11-21T09:45:00.000Z. The newest failure: The receiver answered 500; read its log at the time of this attempt'
  return withoutConnection(projectId, { channel_id: 'chn_sample', code: 'CHANNEL_FAILING', summary })
}

const KEY_SUMMARIES = {
  KEY_EXPIRING: 'The API key "Billing job" expires on 2026-11-28T09:00:00.000Z',
  KEY_RECOVERED: 'ada@laptop created an admin key for all projects with access to the database',
}

/** The alert about an API key that expires soon, or that somebody recovered. */
export function sampleKeyIncident(projectId = 'prj_sample', code: keyof typeof KEY_SUMMARIES = 'KEY_EXPIRING'): Alert {
  return withoutConnection(projectId, { key_id: 'key_sample', code, summary: KEY_SUMMARIES[code] })
}

function withoutConnection(projectId: string, facts: Partial<Incident>): Alert {
  const { names } = SAMPLE_ALERTS['incident.opened']().data
  const about = { connection_id: null, action_id: null, out_of_band: null, ...facts }
  return opened(projectId, about, { action: null, names: { project: names?.project ?? null, connection: null } })
}

type Opened = ReturnType<(typeof SAMPLE_ALERTS)['incident.opened']>

function opened(projectId: string, facts: Partial<Incident>, more: Partial<Opened['data']> = {}): Opened {
  const { data, ...alert } = SAMPLE_ALERTS['incident.opened'](projectId)
  return { ...alert, data: { ...data, incident: { ...data.incident, ...facts }, ...more } }
}

/** The setting of a message for the reader of the samples. */
export function settingWith(publicUrl: string | null = null, brandName = 'Backstop'): MessageSetting {
  return { publicUrl, brandName, reader: SAMPLE_READER }
}
