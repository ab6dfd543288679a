import { type ActionDocument, type ArchivedActionDocument, bucketOf } from '@backstop/contracts'
import { timeToVerdict } from '../../totals/rules/count-day.ts'

/**
 * True if an action may be removed once an archive holds it: it is explained, never had an incident, and was first recorded before this time.
 * @param before milliseconds since the epoch
 */
export function isArchivable({ verdict, incident_id, first_seen }: ActionDocument, before: number): boolean {
  return verdict === 'explained' && incident_id === null && first_seen.getTime() < before
}

/** What stays of an archived action, so that every later count of its day is the same (mongo-totals.ts). */
export function countedPartOf(action: ActionDocument, archived_at: Date): ArchivedActionDocument {
  const { _id, project_id, connection_id, provider_created_at, kind, verdict, reason, state, version } = action
  const { currency, amount, mode = null, actor_id, merged_into, event_ids, ...rest } = action
  // Versions of Backstop without stored buckets counted the timeline, which does not stay.
  const verdictMs = timeToVerdict(rest)
  const bucket = rest.verdict_bucket ?? (verdictMs === undefined ? undefined : bucketOf(verdictMs))
  return {
    ...{ _id, project_id, connection_id, provider_created_at, kind, verdict, reason, state, version },
    ...{ currency, amount, mode },
    ...(actor_id === undefined ? {} : { actor_id }),
    ...(bucket === undefined ? {} : { verdict_bucket: bucket }),
    ...(merged_into === undefined ? {} : { merged_into }),
    ...(event_ids.length === 0 ? { event_ids } : {}),
    archived_at,
  }
}
