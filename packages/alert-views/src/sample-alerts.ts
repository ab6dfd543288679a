import type { Action, Alert, Incident } from '@backstop/contracts'

const AT = '2026-11-21T10:00:00.000Z'

/** What previews show and tests read: made up, and the same each time. */
export const SAMPLE_ALERTS = {
  'incident.opened': (projectId = 'prj_sample'): Alert => ({
    ...common(projectId),
    event: 'incident.opened',
    data: { incident: incident(projectId), action: action(projectId) },
  }),
  'incident.resolved': (projectId = 'prj_sample'): Alert => ({
    ...common(projectId),
    event: 'incident.resolved',
    data: {
      incident: {
        ...incident(projectId),
        state: 'resolved',
        summary:
          'A refund of EUR 1,249.90 on pi_3QK5vLAbCdEfGhIj0aBcDeFg is explained after all: operation op_3v8qk2x9m1s7d5f0 made it',
        resolved_at: '2026-11-21T10:04:00.000Z',
        resolved_by: 'op_3v8qk2x9m1s7d5f0',
        version: 2,
      },
      action: { ...action(projectId), verdict: 'explained', reason: 'provider_ref_matches' },
    },
  }),
  'channel.test': (projectId = 'prj_sample'): Alert => ({
    ...common(projectId),
    event: 'channel.test',
    data: { channel_id: 'chn_sample', text: 'This is a test of the alert channel "On call"' },
  }),
} as const satisfies Record<string, (projectId?: string) => Alert>

/** What is told when a channel was disabled by its failures: an incident that is about no action. */
export function sampleChannelIncident(projectId = 'prj_sample'): Alert {
  const about = { connection_id: null, action_id: null, out_of_band: null, channel_id: 'chn_sample' } as const
  const summary = 'The alert channel "On call" was disabled: the receiver answered 410 Gone, which asks for no more'
  return {
    ...common(projectId),
    event: 'incident.opened',
    data: { incident: { ...incident(projectId), ...about, code: 'CHANNEL_DISABLED', summary }, action: null },
  }
}

const common = (projectId: string) => ({ alert_id: 'alr_sample', project_id: projectId, created_at: AT })

function incident(projectId: string): Incident {
  return {
    incident_id: 'inc_6g2p0n4r8t1w5y9b',
    project_id: projectId,
    connection_id: 'con_9k3f7h1m5q2v8x4z',
    code: 'UNEXPECTED_ACTION',
    state: 'open',
    summary:
      'A refund of EUR 1,249.90 on pi_3QK5vLAbCdEfGhIj0aBcDeFg was made at the provider, and no operation of yours explains it',
    action_id: 'act_sample',
    out_of_band: 'alert',
    opened_at: AT,
    resolved_at: null,
    resolved_by: null,
    version: 1,
  }
}

function action(projectId: string): Action {
  return {
    action_id: 'act_sample',
    project_id: projectId,
    connection_id: 'con_9k3f7h1m5q2v8x4z',
    connection_ids: ['con_9k3f7h1m5q2v8x4z'],
    provider: 'processor',
    kind: 'refund',
    subject: 'pi_3QK5vLAbCdEfGhIj0aBcDeFg',
    provider_ref: 're_3QK5vLAbCdEfGhIj0xYzAbCd',
    amount: 124_990,
    currency: 'eur',
    state: 'succeeded',
    provider_created_at: '2026-11-21T09:58:41.000Z',
    first_seen_at: '2026-11-21T09:58:44.000Z',
    second_look_at: AT,
    verdict: 'unexplained',
    reason: 'nothing_explains_it',
    operation_id: null,
    incident_id: 'inc_6g2p0n4r8t1w5y9b',
    event_ids: ['evt_sample'],
    timeline: [],
    version: 1,
  }
}
