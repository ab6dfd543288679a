import type { Action, Alert, DeliveryRequest, Incident, IncidentEvent, StoredChannel } from '@backstop/contracts'
import { deterministicId, incidentAlertId } from '@backstop/contracts'
import { Secret } from '@backstop/kit/config'
import { createSecretBox, parseKeyRing, type SecretBox } from '@backstop/kit/secret-box'
import type { DiscordConfig } from '../src/discord/form.ts'
import type { EmailConfig } from '../src/email/form.ts'
import type { ChannelConfig } from '../src/forms.ts'
import type { PagerDutyConfig } from '../src/pagerduty/form.ts'
import type { SlackConfig } from '../src/slack/form.ts'
import type { TeamsConfig } from '../src/teams/form.ts'
import type { WebhookConfig } from '../src/webhook/form.ts'

export const PROJECT = 'prj_test'

export const secretBox: SecretBox = createSecretBox(
  parseKeyRing(new Secret(`test:${Buffer.alloc(32, 7).toString('base64')}`)),
)

const ISO = '2026-11-21T10:00:00.000Z'

export function action(facts: Partial<Action> = {}): Action {
  return {
    action_id: 'act_1',
    project_id: PROJECT,
    connection_id: 'con_1',
    connection_ids: ['con_1'],
    provider: 'processor',
    kind: 'refund',
    subject: 'pi_1',
    provider_ref: 're_1',
    amount: 2499,
    currency: 'eur',
    state: 'succeeded',
    provider_created_at: ISO,
    first_seen_at: ISO,
    second_look_at: null,
    verdict: 'unexplained',
    reason: 'nothing_explains_it',
    operation_id: null,
    incident_id: 'inc_1',
    event_ids: ['evt_1'],
    timeline: [],
    version: 1,
    ...facts,
  }
}

export function incident(facts: Partial<Incident> = {}): Incident {
  return {
    incident_id: 'inc_1',
    project_id: PROJECT,
    connection_id: 'con_1',
    code: 'UNEXPECTED_ACTION',
    state: 'open',
    summary: 'A refund of EUR 24.99 was made and no operation explains it',
    action_id: 'act_1',
    out_of_band: 'alert',
    opened_at: ISO,
    resolved_at: null,
    resolved_by: null,
    version: 1,
    ...facts,
  }
}

export function alert(facts: { id?: string; at?: string; project?: string; incident?: Partial<Incident> } = {}): Alert {
  const project = facts.project ?? PROJECT
  const id = facts.id ?? 'alr_1'
  const opened = incident({ project_id: project, incident_id: `inc_${id}`, action_id: `act_${id}`, ...facts.incident })
  return {
    alert_id: id,
    project_id: project,
    created_at: facts.at ?? ISO,
    event: 'incident.opened',
    data: {
      incident: opened,
      action: action({ project_id: project, ...(opened.action_id === null ? {} : { action_id: opened.action_id }) }),
    },
  }
}

export type IncidentAlert = Extract<Alert, { event: IncidentEvent }>

/** The alerts about one incident, with the ids that the reconciler would assign. */
export function incidentAlerts(incidentId: string, facts: { at?: string; project?: string } = {}) {
  const opened = alert({
    ...facts,
    id: incidentAlertId(incidentId, 'incident.opened'),
    incident: { incident_id: incidentId },
  }) as IncidentAlert
  const resolved: IncidentAlert = {
    ...opened,
    alert_id: incidentAlertId(incidentId, 'incident.resolved'),
    event: 'incident.resolved',
    data: {
      ...opened.data,
      incident: { ...opened.data.incident, state: 'resolved', resolved_at: ISO, resolved_by: 'op_1', version: 2 },
    },
  }
  const acknowledged: IncidentAlert = {
    ...opened,
    alert_id: incidentAlertId(incidentId, 'incident.acknowledged'),
    event: 'incident.acknowledged',
    data: {
      ...opened.data,
      incident: { ...opened.data.incident, state: 'acknowledged', acknowledged_at: ISO, acknowledged_by: 'Ann' },
    },
  }
  return { opened, acknowledged, resolved }
}

/** The alert about an incident that was opened again. */
export function reopened(alert: IncidentAlert, times = 1): IncidentAlert {
  const { incident } = alert.data
  return {
    ...alert,
    alert_id: incidentAlertId(incident.incident_id, alert.event, times),
    data: { ...alert.data, incident: { ...incident, reopened: times } },
  } as IncidentAlert
}

export function testAlert(channelId: string, id = 'alr_test'): Alert {
  return {
    alert_id: id,
    project_id: PROJECT,
    created_at: ISO,
    event: 'channel.test',
    data: { channel_id: channelId, text: 'This is a test' },
  }
}

/** The delivery request of a test message. */
export function testRequest(channelId: string): DeliveryRequest {
  const asked = testAlert(channelId)
  const delivery_id = deterministicId('delivery', asked.alert_id, channelId)
  return { delivery_id, channel_id: channelId, project_id: PROJECT, attempt: 1, test: true, alert: asked }
}

type ChannelFacts = Partial<Omit<StoredChannel<ChannelConfig>, 'config'>>

export function channel<Config extends ChannelConfig>(
  id: string,
  config: Config,
  facts: ChannelFacts = {},
): StoredChannel<Config> {
  const at = new Date(ISO)
  return {
    _id: id,
    project_id: PROJECT,
    name: id,
    events: ['incident.opened'],
    config,
    enabled: true,
    version: 1,
    created_at: at,
    updated_at: at,
    deleted_at: null,
    ...facts,
  }
}

export interface WebhookFacts {
  readonly secret?: string
  readonly previous?: { readonly secret: string; readonly expiresAt: Date }
  readonly headers?: Readonly<Record<string, string>>
  readonly template?: string
}

/** @param given the shared secret, or an object with the secret and headers; neither by default */
export function webhookChannel(
  id: string,
  url: string,
  given: string | WebhookFacts = {},
  facts: ChannelFacts = {},
): StoredChannel<WebhookConfig> {
  const { secret, previous, headers = {}, template = null } = typeof given === 'string' ? { secret: given } : given
  const projectId = facts.project_id ?? PROJECT
  const seal = (text: string, field: string) =>
    secretBox.seal(new Secret(text), { collection: 'channels', id, field, projectId })
  const config: WebhookConfig = {
    kind: 'webhook',
    url,
    secret: secret === undefined ? null : seal(secret, 'secret'),
    fingerprint: null,
    previous_secret:
      previous === undefined
        ? null
        : { sealed: seal(previous.secret, 'previous_secret'), fingerprint: '', expires_at: previous.expiresAt },
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, seal(value, 'headers')])),
    template,
  }
  return channel(id, config, facts)
}

export function slackChannel(id: string, url: string, facts: ChannelFacts = {}): StoredChannel<SlackConfig> {
  return channel(id, { kind: 'slack', ...sealed(id, url, 'webhook_url', facts) }, facts)
}

export function teamsChannel(id: string, url: string, facts: ChannelFacts = {}): StoredChannel<TeamsConfig> {
  return channel(id, { kind: 'teams', ...sealed(id, url, 'webhook_url', facts) }, facts)
}

export function discordChannel(id: string, url: string, facts: ChannelFacts = {}): StoredChannel<DiscordConfig> {
  return channel(id, { kind: 'discord', ...sealed(id, url, 'webhook_url', facts) }, facts)
}

/** An encrypted field of a channel, with its fingerprint. */
function sealed<Field extends string>(id: string, text: string, field: Field, facts: ChannelFacts) {
  const secret = new Secret(text)
  const context = { collection: 'channels', id, field, projectId: facts.project_id ?? PROJECT } as const
  const parts = { [field]: secretBox.seal(secret, context) } as Record<Field, string>
  return { ...parts, fingerprint: secretBox.fingerprint(secret) }
}

export function emailChannel(id: string, to: string[], facts: ChannelFacts = {}): StoredChannel<EmailConfig> {
  return channel(id, { kind: 'email', to }, facts)
}

export function pagerDutyChannel(
  id: string,
  url: string,
  key: string,
  facts: ChannelFacts = {},
): StoredChannel<PagerDutyConfig> {
  const config: PagerDutyConfig = { kind: 'pagerduty', events_url: url, ...sealed(id, key, 'routing_key', facts) }
  return channel(id, config, facts)
}
