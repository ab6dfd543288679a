import { ConnectionListQuery, NewSilence, Silence, type SilenceDocument } from '@backstop/contracts'
import { AppError } from '@backstop/kit/errors'
import { auditedAs } from '../../http/change-document.ts'
import { findConnection, findInProject, findProject, refuseHeartbeat } from '../../http/find-resource.ts'
import { getRoute, listRoute } from '../../http/read-routes.ts'
import { refusedField } from '../../http/refused-field.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'
import { decideSilenceEnd, showSilence, summarizeSilence } from './rules/silence.ts'

const tag = 'Silences'

const REFUSALS = {
  already_over: 'Give a time in the future',
  too_long: 'Give a time at most 30 days from now',
} as const

/** /v1/silences */
export function silenceRoutes({ stores }: AdminParts): Route[] {
  const resource = {
    path: '/v1/silences',
    tag,
    item: 'silence',
    schema: Silence,
    collection: stores.silences,
    show: (silence: SilenceDocument, { now }: { readonly now: Date }) => showSilence(silence, now),
  } as const
  return [
    createRoute(stores),
    listRoute({
      ...resource,
      operationId: 'listSilences',
      summary: 'List silences of connections, newest first, including ended ones',
      items: 'silences',
      query: ConnectionListQuery,
      sortedBy: 'created_at',
      filter: ({ connection_id }) => ({ connection_id }),
    }),
    getRoute({ ...resource, operationId: 'getSilence', summary: 'Get a silence' }),
    endRoute(),
  ]
}

function createRoute(stores: AdminParts['stores']): Route {
  return defineRoute({
    method: 'post',
    path: '/v1/silences',
    operationId: 'createSilence',
    tag,
    summary: 'Silence a connection for a time',
    description:
      'No channel is notified of alerts about the connection that are raised during the silence, whatever their kind. Incidents still open, and show the silence. It begins at once and ends by itself after at most 30 days. A connection has one silence at a time.',
    scope: 'manage',
    body: NewSilence,
    answers: { 201: { description: 'The silence', schema: Silence } },
    refusals: ['not_found', 'conflict'],
    async handle({ body, principal, newId, now, change }) {
      const { _id: projectId } = await findProject(stores, principal, body.project_id)
      refuseHeartbeat(projectId)
      const end = decideSilenceEnd(body, now)
      if (end.kind === 'refused') throw refusedField('body.ends_at', REFUSALS[end.reason])
      const document: SilenceDocument = {
        _id: newId('silence'),
        project_id: projectId,
        connection_id: body.connection_id,
        reason: body.reason,
        created_by: principal.id,
        created_at: now,
        ends_at: end.at,
        ended_by: null,
      }
      const stored = await change(
        async collections => {
          // A request whose answer was lost is repeated with the same ids, and its silence may have begun.
          const own = await collections.silences.find({ _id: document._id })
          if (own !== undefined) return own
          const { silence } = await findConnection(collections, principal, body.connection_id, projectId)
          if (silence != null && Date.parse(silence.ends_at) > now.getTime()) {
            throw new AppError(
              'conflict',
              `The connection is silenced until ${silence.ends_at}; end ${silence.silence_id} first`,
            )
          }
          await collections.silences.put(document)
          // Two requests at once change the same connection, so that the second one runs again and sees the first.
          await collections.connections.change({ _id: body.connection_id }, { silence: summarizeSilence(document) })
          return document
        },
        () => ({ action: 'silence.create', target: document._id, projectId }),
      )
      return { status: 201, body: showSilence(stored, now) }
    },
  })
}

function endRoute(): Route {
  return defineRoute({
    method: 'delete',
    path: '/v1/silences/{id}',
    operationId: 'endSilence',
    tag,
    summary: 'End a silence now',
    description:
      'Alerts that are raised from now on are delivered again. Alerts that were raised during the silence are not sent later. The silence stays in the list.',
    scope: 'manage',
    answers: { 204: { description: 'The silence has ended' } },
    refusals: ['conflict'],
    async handle({ params, principal, now, change }) {
      await change(async ({ silences, connections }) => {
        const known = await findInProject(silences, principal, 'silence', params.id)
        if (known.ends_at <= now) {
          throw new AppError('conflict', `The silence ${known._id} ended at ${known.ends_at.toISOString()}`)
        }
        await silences.change({ _id: known._id }, { ends_at: now, ended_by: principal.id })
        await connections.change({ _id: known.connection_id }, { silence: null })
        return known
      }, auditedAs('silence.end'))
      return { status: 204 }
    },
  })
}
