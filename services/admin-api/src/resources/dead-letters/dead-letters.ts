import { DeadLetter, type DeadLetterDocument } from '@backstop/contracts'
import { z } from 'zod'
import type { Principal } from '../../access/rules/access.ts'
import { notFound } from '../../http/found.ts'
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
      summary: 'List messages that the notifier could not use and that are no delivery, newest first',
      description: 'Only a key that is good for all projects sees any.',
      scope: 'admin',
      items: 'messages',
      schema: DeadLetter,
      shelf: parts.stores.deadLetters,
      sortedBy: 'parked_at',
      narrow: ({ principal }) => (seesAll(principal) ? {} : { _id: { in: [] } }),
      show,
    }),
    replayRoute(parts),
  ]
}

/** Nobody can tell whose a message is that cannot be read: they are for keys of all projects alone. */
const seesAll = ({ projectId }: Principal) => projectId === null

function replayRoute({ stores, deadLetters }: AdminParts): Route {
  return defineRoute({
    method: 'post',
    path: '/v1/dead-letters/{id}/replay',
    operationId: 'replayDeadLetter',
    tag,
    summary: 'Send a message that could not be used again, to where it lay first',
    description:
      'For when what was wrong is mended, for example in a newer version. The message takes its usual way again; one that still cannot be used is parked again, which moves its `parked_at`.',
    scope: 'admin',
    params: z.object({ id: z.string() }),
    answers: { 202: { description: 'It is sent', schema: DeadLetter } },
    refusals: ['not_found'],
    async handle({ params, principal }) {
      const letter = seesAll(principal) ? await stores.deadLetters.find({ _id: params.id }) : undefined
      if (letter === undefined) throw notFound('dead letter', params.id)
      await deadLetters.send(letter)
      const changed = { action: 'dead_letter.replay', target: letter._id, projectId: null }
      return { status: 202, body: show(letter), changed }
    },
  })
}

function show({ _id, topic, key, value, reason_code, reason, parked_at }: DeadLetterDocument): DeadLetter {
  const bytes = value === null ? 0 : Buffer.byteLength(value, 'base64')
  return { dead_letter_id: _id, topic, key, bytes, reason_code, reason, parked_at: parked_at.toISOString() }
}
