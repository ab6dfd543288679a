import type { Alert } from '@backstop/contracts'
import { sampleChannelIncident } from './sample-alerts.ts'

const SUMMARY =
  'The alert channel "On call" delivers nothing: No alert has arrived there since 2026-11-21T09:45:00.000Z. The newest failure: The receiver answered 500; read its log at the time of this attempt'

/** The alert about a channel that delivers nothing. */
export function sampleFailingChannel(projectId = 'prj_sample'): Alert {
  const alert = sampleChannelIncident(projectId)
  if (alert.event !== 'incident.opened') throw new Error('The sample of a disabled channel opens no incident')
  const incident = { ...alert.data.incident, code: 'CHANNEL_FAILING' as const, summary: SUMMARY }
  return { ...alert, data: { ...alert.data, incident } }
}
