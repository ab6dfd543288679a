import {
  defaultMaxChanges,
  deterministicId,
  ExpectedChange,
  type ExpectedChangeDocument,
  type ExpectedChangeUsesDocument,
  NewExpectedChange,
  ProjectListQuery,
  usesIdOf,
} from '@backstop/contracts'
import type { z } from 'zod'
import { auditedAs, storeNew } from '../../http/change-document.ts'
import { findActiveProject, findConnection, findInProject } from '../../http/find-resource.ts'
import { getRoute, listRoute } from '../../http/read-routes.ts'
import { refusedField } from '../../http/refused-field.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'
import { showDocument } from '../../rules/show-document.ts'
import { usesRoute } from './uses.ts'

const tag = 'Expected changes'

/** /v1/expected-changes */
export function expectedChangeRoutes(parts: AdminParts): Route[] {
  const resource = {
    path: '/v1/expected-changes',
    tag,
    item: 'expected change',
    schema: ExpectedChange,
    collection: parts.stores.expectedChanges,
    beside: parts.stores.expectedChangeUses,
    // Of the current period; after its end, of its last one.
    idBeside: (change: ExpectedChangeDocument, now: Date) =>
      usesIdOf(change, Math.min(now.getTime(), change.expires_at.getTime() - 1)),
    show: (change: ExpectedChangeDocument, _: unknown, uses: ExpectedChangeUsesDocument | undefined) =>
      showExpectedChange(change, uses),
  } as const
  return [
    createRoute(parts),
    listRoute({
      ...resource,
      operationId: 'listExpectedChanges',
      summary: 'List expected changes, newest first, including expired and deleted ones',
      items: 'expected changes',
      query: ProjectListQuery,
      sortedBy: 'created_at',
    }),
    getRoute({
      ...resource,
      operationId: 'getExpectedChange',
      summary: 'Get an expected change with what it covers so far',
    }),
    usesRoute(parts),
    deleteRoute(),
  ]
}

function createRoute({ stores, commands }: AdminParts): Route {
  return defineRoute({
    method: 'post',
    path: '/v1/expected-changes',
    operationId: 'createExpectedChange',
    tag,
    summary: 'Create an expected change: refunds or cancellations that no operation reports',
    description:
      'Explains matching refunds or cancellations: at most `max_changes` (default 1), and at most `max_amount` in total, or of each `interval`. It also resolves matching open incidents, oldest first. An expected change covers changes that the provider makes between `starts_at` and `expires_at`; without `starts_at`, from two minutes before its creation, and also changes that had an open incident or a pending second look at its creation.',
    scope: 'manage',
    body: NewExpectedChange,
    answers: { 201: { description: 'The expected change', schema: ExpectedChange } },
    refusals: ['not_found'],
    async handle(request) {
      const { body, principal, now, logger } = request
      const { _id: projectId } = await findActiveProject(stores, principal, body.project_id)
      if (body.connection_id !== undefined) await findConnection(stores, principal, body.connection_id, projectId)
      const expiresAt = new Date(now.getTime() + body.expires_in_seconds * 1000)
      const startsAt = body.starts_at === undefined ? null : new Date(body.starts_at)
      if (startsAt !== null && startsAt >= expiresAt) {
        throw refusedField('body.starts_at', 'Give a time before expires_at')
      }
      const document: ExpectedChangeDocument = {
        _id: request.newId('expectedChange'),
        project_id: projectId,
        connection_id: body.connection_id ?? null,
        kind: body.kind,
        ...aboutOf(body),
        amount: body.amount ?? null,
        currency: body.currency ?? null,
        max_changes: body.max_changes ?? defaultMaxChanges(body),
        max_amount: body.max_amount ?? null,
        note: body.note,
        created_by: principal.id,
        created_at: now,
        starts_at: startsAt,
        expires_at: expiresAt,
      }
      await storeNew(request, ({ expectedChanges }) => expectedChanges, document, 'expected_change.create')
      await commands
        .send([
          {
            kind: 'apply_expected_change',
            command_id: deterministicId('command', 'apply_expected_change', document._id),
            project_id: projectId,
            requested_at: now.toISOString(),
            expected_change_id: document._id,
          },
        ])
        // The expected change is stored, and the reconciler also polls for new ones. An error here would make the caller retry and create
        // a second one.
        .catch(error => logger.warn({ error, expected_change_id: document._id }, 'expected_change.not_published'))
      return { status: 201, body: showExpectedChange(document, undefined) }
    },
  })
}

/** Which changes it covers, so that a reconciler of 0.2.0 covers nothing if it does not know all limits. */
function aboutOf(body: z.output<typeof NewExpectedChange>): Pick<ExpectedChangeDocument, 'subject' | 'limits'> {
  const subject = body.subject ?? null
  const limits = {
    customer_id: body.customer_id ?? null,
    actor_id: body.actor_id ?? null,
    interval: body.interval ?? null,
  }
  const hasLimits = Object.values(limits).some(limit => limit !== null)
  return hasLimits ? { subject: '', limits: { subject, ...limits } } : { subject }
}

function deleteRoute(): Route {
  return defineRoute({
    method: 'delete',
    path: '/v1/expected-changes/{id}',
    operationId: 'deleteExpectedChange',
    tag,
    summary: 'Delete an expected change',
    description:
      'Changes that were already explained stay explained. No further changes are explained. The expected change can still be read.',
    scope: 'manage',
    answers: { 204: { description: 'The expected change is deleted' } },
    async handle({ params, principal, change, now }) {
      await change(async ({ expectedChanges }) => {
        const more = { deleted_at: null }
        const known = await findInProject(expectedChanges, principal, 'expected change', params.id, more)
        await expectedChanges.change({ _id: known._id }, { deleted_at: now, deleted_by: principal.id })
        return known
      }, auditedAs('expected_change.delete'))
      return { status: 204 }
    },
  })
}

/** @param stored the reconciler's record of the covered changes; undefined if there are none yet */
function showExpectedChange(
  document: ExpectedChangeDocument,
  stored: ExpectedChangeUsesDocument | undefined,
): ExpectedChange {
  const uses = stored?.uses ?? []
  const { subject, limits } = document
  return showDocument(ExpectedChange, document, {
    expected_change_id: document._id,
    incident_id: document.incident_id ?? null,
    subject: limits === undefined ? subject : limits.subject,
    customer_id: limits?.customer_id ?? null,
    actor_id: limits?.actor_id ?? null,
    interval: limits?.interval ?? null,
    max_changes: document.max_changes ?? 1,
    max_amount: document.max_amount ?? null,
    changes_covered: uses.length,
    amount_covered: document.currency === null ? null : uses.reduce((sum, { amount }) => sum + amount, 0),
    deleted_at: document.deleted_at?.toISOString() ?? null,
    deleted_by: document.deleted_by ?? null,
  })
}
