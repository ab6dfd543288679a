import {
  deterministicId,
  ExpectedChange,
  type ExpectedChangeDocument,
  type ExpectedChangeUsesDocument,
  NewExpectedChange,
  ProjectListQuery,
} from '@backstop/contracts'
import { auditedAs, storeNew } from '../../http/change-document.ts'
import { findActiveProject, findConnection, findInProject } from '../../http/find-resource.ts'
import { getRoute, listRoute } from '../../http/read-routes.ts'
import { refusedField } from '../../http/refused-field.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'
import { showDocument } from '../../rules/show-document.ts'

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
      'Explains matching refunds or cancellations: at most `max_changes` (default 1), and at most `max_amount` in total. It also resolves matching open incidents, oldest first. An expected change covers changes that the provider makes between `starts_at` and `expires_at`; without `starts_at`, from two minutes before its creation, and also changes that had an open incident or a pending second look at its creation.',
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
        subject: body.subject ?? null,
        amount: body.amount ?? null,
        currency: body.currency ?? null,
        max_changes: body.max_changes,
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
  return showDocument(ExpectedChange, document, {
    expected_change_id: document._id,
    incident_id: document.incident_id ?? null,
    max_changes: document.max_changes ?? 1,
    max_amount: document.max_amount ?? null,
    changes_covered: uses.length,
    amount_covered: document.currency === null ? null : uses.reduce((sum, { amount }) => sum + amount, 0),
    deleted_at: document.deleted_at?.toISOString() ?? null,
    deleted_by: document.deleted_by ?? null,
  })
}
