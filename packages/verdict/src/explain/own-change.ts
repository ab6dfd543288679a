import {
  type ActionDocument,
  ActionKind,
  type Actor,
  deterministicId,
  type ExpectedChangeDocument,
  type StoredIncident,
} from '@backstop/contracts'

/** An expected change lasts at least this long, in milliseconds, so that the reconciler still finds it. */
const MIN_LASTING_MS = 60_000

/** A resolution of an incident as the customer's own change. */
export interface OwnChange {
  readonly note: string | null
  readonly actor: Actor
}

/**
 * The expected change that explains exactly the action of an incident that was resolved as the customer's own change. It covers nothing while
 * the incident has another state or reason. A repeat has the same id.
 * @param now milliseconds since the epoch
 * @returns undefined for an incident that is not about an unexplained refund or cancellation
 */
export function expectedChangeOfOwn(
  { incident_id, code, connection_id }: Pick<StoredIncident, 'incident_id' | 'code' | 'connection_id'>,
  { kind, subject, amount, currency, provider_created_at, project_id }: ActionDocument,
  { note, actor }: OwnChange,
  now: number,
): ExpectedChangeDocument | undefined {
  const parsed = ActionKind.safeParse(kind)
  if (code !== 'UNEXPECTED_ACTION' || !parsed.success) return undefined
  const madeAt = new Date(provider_created_at)
  return {
    _id: deterministicId('expectedChange', incident_id),
    project_id,
    incident_id,
    connection_id,
    kind: parsed.data,
    subject,
    amount,
    currency,
    max_changes: 1,
    max_amount: null,
    note: note ?? `Our own change, said the person who resolved incident ${incident_id}`,
    created_by: actor.id,
    created_at: new Date(now),
    starts_at: madeAt,
    expires_at: new Date(Math.max(madeAt.getTime() + 1_000, now + MIN_LASTING_MS)),
  }
}
