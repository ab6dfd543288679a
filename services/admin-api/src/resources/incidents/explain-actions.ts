import {
  type ActionDocument,
  ActionKind,
  deterministicId,
  type ExpectedChangeDocument,
  type IncidentDocument,
} from '@backstop/contracts'
import { checkScope } from '../../http/find-resource.ts'
import { refusedField } from '../../http/refused-field.ts'
import type { RouteRequest } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'

/** An expected change lasts at least this long, in milliseconds, so that the reconciler still finds it. */
const MIN_LASTING_MS = 60_000

/** Expected changes that one transaction stores. */
const AT_ONCE = 500

/** The fields of an action that its expected change needs. */
const FIELDS = ['kind', 'subject', 'amount', 'currency', 'provider_created_at', 'project_id'] as const
type ExplainedAction = Pick<ActionDocument, (typeof FIELDS)[number]>

/**
 * Stores the expected changes that explain the actions of incidents: one for each action, with its subject, amount and time. Each covers nothing
 * until the reconciler resolves its incident as our own change, so a refused resolution leaves the verdict as it is. A repeat stores the same
 * expected changes.
 * @throws AppError `invalid_request` if no action can be explained; `forbidden` without the scope to create expected changes
 */
export async function explainActions(
  { stores }: Pick<AdminParts, 'stores'>,
  { change, principal, now }: Pick<RouteRequest<never, never, never>, 'change' | 'principal' | 'now'>,
  incidents: readonly Pick<IncidentDocument, '_id' | 'code' | 'action_id' | 'connection_id'>[],
  { note, target, projectId }: { readonly note: string | null; readonly target: string; readonly projectId: string },
): Promise<void> {
  checkScope(principal, 'manage', projectId)
  const unexplained = incidents.filter(({ code }) => code === 'UNEXPECTED_ACTION')
  const ids = unexplained.flatMap(({ action_id }) => action_id ?? [])
  const byId = new Map<string, ExplainedAction>()
  for await (const actions of stores.actions.batches({ _id: { in: ids } }, FIELDS)) {
    for (const action of actions) byId.set(action._id, action)
  }
  const documents = unexplained.flatMap(incident => {
    const action = byId.get(incident.action_id ?? '')
    return action === undefined
      ? []
      : (expectedChangeOf(action, incident, { note, createdBy: principal.id, now }) ?? [])
  })
  if (documents.length === 0)
    throw refusedField('body.explain', 'Leave it out: only refunds and cancellations can be explained')
  // The row of many names only their number, because each is listed with its incident.
  const counted = { resource: target, field: 'expected_changes', from: null, to: documents.length }
  const row = {
    action: 'expected_change.create',
    target,
    projectId,
    ...(documents.length === 1 ? {} : { changes: [counted] }),
  }
  for (let at = 0; at < documents.length; at += AT_ONCE) {
    await change(
      ({ expectedChanges }) => expectedChanges.putAll(documents.slice(at, at + AT_ONCE)),
      // One row for all, before the others are stored.
      () => (at === 0 ? row : undefined),
    )
  }
}

/** Covers exactly the action of the incident. */
function expectedChangeOf(
  { kind, subject, amount, currency, provider_created_at, project_id }: ExplainedAction,
  { _id: incidentId, connection_id }: Pick<IncidentDocument, '_id' | 'connection_id'>,
  { note, createdBy, now }: { note: string | null; createdBy: string; now: Date },
): ExpectedChangeDocument | undefined {
  const parsed = ActionKind.safeParse(kind)
  if (!parsed.success) return undefined
  const madeAt = new Date(provider_created_at)
  return {
    _id: deterministicId('expectedChange', incidentId),
    project_id,
    incident_id: incidentId,
    connection_id,
    kind: parsed.data,
    subject,
    amount,
    currency,
    max_changes: 1,
    max_amount: null,
    note: note ?? `Our own change, said the person who resolved incident ${incidentId}`,
    created_by: createdBy,
    created_at: now,
    starts_at: madeAt,
    expires_at: new Date(Math.max(madeAt.getTime() + 1_000, now.getTime() + MIN_LASTING_MS)),
  }
}
