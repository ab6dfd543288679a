import type { Truth } from '../actors/truth.ts'

/** What the judge must know of a run. */
export interface Terms {
  /** Time between the first record of an action and its second look, in milliseconds. */
  readonly secondLookMs: number
  /** How far two clocks may differ, in milliseconds. */
  readonly clockMs: number
  /** Whether something may have broken between a receiver's answer and its record, so that a delivery may be repeated. */
  readonly mayRepeat: boolean
}

interface AlertBody {
  readonly id: string
  readonly event: string
  readonly project_id: string
  readonly data: {
    readonly incident?: { readonly incident_id: string }
    readonly action?: { readonly provider_ref: string | null; readonly subject: string; readonly amount: number | null }
  }
}

/** Judges a run that has come to rest. Knows the product only by its interface. @returns what is wrong, a line each */
export function judge(truth: Truth, terms: Terms): string[] {
  const alerts = truth.received.map(received => ({ ...received, alert: JSON.parse(received.body) as AlertBody }))
  const faults = [...truth.wrongs]
  for (const deed of truth.deeds) {
    const about = alerts.filter(({ alert }) => deed.names.includes(nameOf(alert.data.action)))
    const opened = about.filter(({ alert }) => alert.event === 'incident.opened')
    const name = `${deed.title} (${deed.ref})`
    const wrong = (text: string) => faults.push(`${name} ${text}`)
    if (new Set(opened.map(({ alert }) => alert.data.incident?.incident_id)).size > 1) wrong('opened two incidents')
    if (about.some(({ alert }) => alert.project_id !== deed.projectId)) wrong('alerted another project')
    if (!deed.mustAlert) continue
    if (deed.reportedMs === undefined && opened.length === 0) wrong('is unexplained, and nobody was alerted')
    const earliest = deed.atMs + terms.secondLookMs - terms.clockMs
    const isInTime = deed.reportedMs !== undefined && deed.reportedMs <= earliest
    if (isInTime && opened.length > 0) wrong('was reported in time, and people were alerted')
    for (const { atMs } of opened) if (atMs < earliest) wrong(`alerted ${earliest - atMs} ms before its second look`)
    const isResolved = about.some(({ alert }) => alert.event === 'incident.resolved')
    if (opened.length > 0 && deed.reportedMs !== undefined && !isResolved)
      wrong('was reported late, and its incident stayed open')
  }
  for (const [id, copies] of Map.groupBy(alerts, ({ webhookId, channel }) => `${channel} ${webhookId}`)) {
    if (new Set(copies.map(({ body }) => body)).size > 1) faults.push(`Delivery ${id} has two bodies`)
    if (copies.length > 1 && !terms.mayRepeat && copies.slice(0, -1).some(({ isAnswered }) => isAnswered)) {
      faults.push(`Delivery ${id} was repeated after its answer`)
    }
  }
  return faults
}

/** The name of the change that an alert is about: its id, or the amount of its payment if the provider gave no id. */
function nameOf(action: AlertBody['data']['action']): string {
  return action?.provider_ref ?? `${action?.amount} of ${action?.subject}`
}
