import {
  ExpectedChange,
  type ExpectedChangeDocument,
  ExpectedChangeQuery,
  listOf,
  NewExpectedChange,
} from '@backstop/contracts'
import { z } from 'zod'
import { ownProject } from '../domain/access.ts'
import type { AdminParts } from '../parts.ts'
import { decodeCursor, toPage } from './cursor.ts'
import { findConnection, findProject, notFound, projectFilter } from './found.ts'
import { defineRoute, type Route } from './route.ts'

const tag = 'Expected changes'

/** /v1/expected-changes */
export function expectedChangeRoutes(parts: AdminParts): Route[] {
  return [createRoute(parts), listRoute(parts), deleteRoute()]
}

function createRoute({ stores }: AdminParts): Route {
  return defineRoute({
    method: 'post',
    path: '/v1/expected-changes',
    operationId: 'createExpectedChange',
    tag,
    summary: 'Note that a refund or cancellation will come that no operation tells of',
    description:
      'Explains every refund or cancellation that fits and that the provider makes before the note expires, at its second look. What was alerted already stays so.',
    scope: 'manage',
    body: NewExpectedChange,
    answers: { 201: { description: 'The note', schema: ExpectedChange } },
    refusals: ['not_found'],
    async handle({ body, principal, now, newId, change }) {
      const { _id: projectId } = await findProject(stores, principal, body.project_id)
      if (body.connection_id !== undefined) await findConnection(stores, principal, body.connection_id, projectId)
      const document: ExpectedChangeDocument = {
        _id: newId('expectedChange'),
        project_id: projectId,
        connection_id: body.connection_id ?? null,
        kind: body.kind,
        subject: body.subject ?? null,
        amount: body.amount ?? null,
        currency: body.currency ?? null,
        note: body.note,
        created_by: principal.keyId,
        created_at: now,
        expires_at: new Date(now.getTime() + body.expires_in_seconds * 1000),
      }
      await change(
        ({ expectedChanges }) => expectedChanges.put(document),
        () => ({ action: 'expected_change.create', target: document._id, projectId }),
      )
      return { status: 201, body: show(document) }
    },
  })
}

function listRoute({ stores }: AdminParts): Route {
  return defineRoute({
    method: 'get',
    path: '/v1/expected-changes',
    operationId: 'listExpectedChanges',
    tag,
    summary: 'List notes of expected changes, newest first; expired ones too',
    scope: 'read',
    query: ExpectedChangeQuery,
    answers: { 200: { description: 'A page of notes', schema: listOf(ExpectedChange) } },
    refusals: ['not_found'],
    async handle({ query, principal }) {
      const where = projectFilter(principal, query.project_id)
      const after = decodeCursor(query.cursor)
      const found = await stores.expectedChanges.page({ where, by: 'created_at', after, limit: query.limit + 1 })
      const placeOf = ({ created_at, _id }: ExpectedChangeDocument) => ({ at: created_at, id: _id })
      return { status: 200, body: toPage(found, query.limit, placeOf, show) }
    },
  })
}

function deleteRoute(): Route {
  return defineRoute({
    method: 'delete',
    path: '/v1/expected-changes/{id}',
    operationId: 'deleteExpectedChange',
    tag,
    summary: 'Take a note of an expected change back',
    description: 'What it explained stays explained.',
    scope: 'manage',
    params: z.object({ id: z.string() }),
    answers: { 204: { description: 'It is gone' } },
    refusals: ['not_found'],
    async handle({ params, principal, change }) {
      const own = { _id: params.id, ...ownProject(principal) }
      await change(
        async ({ expectedChanges }) => {
          const known = await expectedChanges.find(own)
          if (known === undefined) throw notFound('expected change', params.id)
          await expectedChanges.remove(own)
          return known
        },
        ({ _id, project_id }) => ({ action: 'expected_change.delete', target: _id, projectId: project_id }),
      )
      return { status: 204 }
    },
  })
}

function show({ _id, created_at, expires_at, ...rest }: ExpectedChangeDocument): ExpectedChange {
  return {
    expected_change_id: _id,
    ...rest,
    created_at: created_at.toISOString(),
    expires_at: expires_at.toISOString(),
  }
}
