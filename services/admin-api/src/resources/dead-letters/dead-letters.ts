import { DeadLetter, type DeadLetterDocument } from '@backstop/contracts'
import { z } from 'zod'
import type { Principal } from '../../access/rules/access.ts'
import { notFound } from '../../http/find-resource.ts'
import { listRoute } from '../../http/read-routes.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'

const tag = 'Dead letters'

/** /v1/dead-letters */
export function deadLetterRoutes(parts: AdminParts): Route[] {
  return [
    listRoute({
      path: '/v1/dead-letters',
      operationId: 'listDeadLetters',
      tag,
      summary: 'List dead letters that are not deliveries, newest first',
      description: 'Requires a key for all projects.',
      scope: 'admin',
      items: 'messages',
      schema: DeadLetter,
      collection: parts.stores.deadLetters,
      sortedBy: 'parked_at',
      narrow: ({ principal }) => (isForAllProjects(principal) ? {} : { _id: { in: [] } }),
      show: showDeadLetter,
    }),
    replayRoute(parts),
  ]
}

/** A message that cannot be read has no known project, so only keys for all projects may see it. */
const isForAllProjects = ({ projectId }: Principal) => projectId === null

function replayRoute({ stores, deadLetters }: AdminParts): Route {
  return defineRoute({
    method: 'post',
    path: '/v1/dead-letters/{id}/replay',
    operationId: 'replayDeadLetter',
    tag,
    summary: 'Replay a dead letter to its original topic',
    description:
      'Replay a dead letter after its cause is fixed, for example by a newer version. A message that still cannot be used becomes a dead letter again, with a new `parked_at`.',
    scope: 'admin',
    params: z.object({ id: z.string() }),
    answers: { 202: { description: 'The message is sent', schema: DeadLetter } },
    refusals: ['not_found'],
    async handle({ params, principal }) {
      const letter = isForAllProjects(principal) ? await stores.deadLetters.find({ _id: params.id }) : undefined
      if (letter === undefined) throw notFound('dead letter', params.id)
      await deadLetters.send(letter)
      const changed = { action: 'dead_letter.replay', target: letter._id, projectId: null }
      return { status: 202, body: showDeadLetter(letter), changed }
    },
  })
}

function showDeadLetter({ _id, topic, key, value, reason_code, reason, parked_at }: DeadLetterDocument): DeadLetter {
  const bytes = value === null ? 0 : Buffer.byteLength(value, 'base64')
  return { dead_letter_id: _id, topic, key, bytes, reason_code, reason, parked_at: parked_at.toISOString() }
}
