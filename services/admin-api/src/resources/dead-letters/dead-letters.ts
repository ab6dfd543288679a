import {
  DeadLetter,
  DeadLetterQuery,
  DismissedDeadLetters,
  ReplayedDeadLetters,
  SelectDeadLetters,
} from '@backstop/contracts'
import { AppError } from '@backstop/kit/errors'
import type { z } from 'zod'
import { type Principal, restrictToProject } from '../../access/rules/access.ts'
import { buildPage, PositionCursor } from '../../http/cursor.ts'
import { checkReach, notFound, projectFilterOf, projectRefused } from '../../http/find-resource.ts'
import { pagedRoute, windowOf } from '../../http/read-routes.ts'
import { defineRoute, type Route, type RouteRequest } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'
import { findDeadLetter, pageDeadLetters } from './find-dead-letters.ts'
import { dismissDeadLetters, replayDeadLetters } from './replay-dead-letters.ts'
import {
  dismissalBlockedBy,
  type FoundDeadLetter,
  placeOf,
  projectOf,
  repairBlockedBy,
  showDeadLetter,
} from './rules/dead-letter.ts'

const tag = 'Dead letters'
const FAILS_AGAIN = 'A dead letter that still cannot be used is listed again, with a new `parked_at`.'

/** Dead letters that one request sends again or dismisses. */
const AT_ONCE = 200

/**
 * The cursor of a replay also has the time of its first request. Dead letters that fail again are dead-lettered after it, so the replay ends
 * although it goes from the oldest to the newest.
 */
const ReplayCursor = PositionCursor.extend({ before: PositionCursor.shape.at })

/** /v1/dead-letters */
export function deadLetterRoutes(parts: AdminParts): Route[] {
  return [
    pagedRoute({
      path: '/v1/dead-letters',
      operationId: 'listDeadLetters',
      tag,
      summary: 'List everything that could not be used, newest first',
      description:
        'Notifications that could not be decided, deliveries that are dead, and messages of every topic. `repair` is the call that sends a dead letter again after its cause was removed. Messages whose project is unknown are listed only for keys and people with access to all projects.',
      items: 'dead letters',
      query: DeadLetterQuery,
      schema: DeadLetter,
      page: ({ query, principal }, place) =>
        pageDeadLetters(parts.stores, {
          where: projectFilterOf(principal, query.project_id),
          kind: query.kind,
          window: windowOf(query),
          ...place,
        }),
      placeOf,
      show: showDeadLetter,
    }),
    replayOneRoute(parts),
    replayManyRoute(parts),
    dismissManyRoute(parts),
    dismissRoute(parts),
  ]
}

function replayOneRoute(parts: AdminParts): Route {
  return defineRoute({
    method: 'post',
    path: '/v1/dead-letters/{id}/replay',
    operationId: 'replayDeadLetter',
    tag,
    summary: 'Replay a dead letter',
    description: `Call it after the cause was removed, for example after an update. A notification is decided again, a delivery is attempted again, and a message is sent to its original topic. ${FAILS_AGAIN}`,
    scope: 'manage',
    answers: { 202: { description: 'The dead letter as it was before it was sent again', schema: DeadLetter } },
    refusals: ['conflict'],
    async handle(request) {
      const { id } = request.params
      const body = await request.decideOnce(async () => {
        const found = await requireDeadLetter(parts, request.principal, id)
        const blocked = repairBlockedBy(found)
        if (blocked !== null) throw new AppError('conflict', `Dead letter ${id} is not sent again: ${blocked}`)
        return showDeadLetter(found)
      })
      // In a repeat there may be none any more, because the first attempt has sent it.
      const found = await findDeadLetter(parts.stores, id)
      if (found !== undefined) await replayDeadLetters([found], request, parts)
      return { status: 202, body }
    },
  })
}

function dismissRoute(parts: AdminParts): Route {
  return defineRoute({
    method: 'post',
    path: '/v1/dead-letters/{id}/dismiss',
    operationId: 'dismissDeadLetter',
    tag,
    summary: 'Dismiss a dead letter',
    description:
      'For a message that nothing can use, for example of another program. It leaves the list and the metric, and is never sent again. `dismiss` of a dead letter is null if it cannot be dismissed: notifications stay in the inbox, and dead deliveries in the list of deliveries. Repeating the request changes nothing. If the same message is dead-lettered again, it is listed again.',
    scope: 'manage',
    answers: { 202: { description: 'The dismissed dead letter', schema: DeadLetter } },
    refusals: ['conflict'],
    async handle(request) {
      const { id } = request.params
      const found = await requireDeadLetter(parts, request.principal, id)
      const blocked = dismissalBlockedBy(found)
      if (blocked !== null) throw new AppError('conflict', `Dead letter ${id} is not dismissed: ${blocked}`)
      if (found.kind === 'message' && found.letter.replayed_at === undefined) {
        await dismissDeadLetters([found], request, parts)
      }
      return { status: 202, body: showDeadLetter(found) }
    },
  })
}

function replayManyRoute(parts: AdminParts): Route {
  return defineRoute({
    method: 'post',
    path: '/v1/dead-letters/replay',
    operationId: 'replayAllDeadLetters',
    tag,
    summary: 'Replay the dead letters that a filter selects',
    description: `Sends up to ${AT_ONCE} dead letters again, oldest first, each as POST /v1/dead-letters/{id}/replay does. Repeat the request with \`cursor\` to continue. ${FAILS_AGAIN}`,
    scope: 'manage',
    body: SelectDeadLetters,
    answers: { 202: { description: 'The dead letters are sent again', schema: ReplayedDeadLetters } },
    refusals: ['not_found'],
    async handle(request) {
      const { possible, ...rest } = await selectDeadLetters(parts, request, repairBlockedBy)
      await replayDeadLetters(possible, request, parts)
      return { status: 202, body: { replayed: possible.length, ...rest } }
    },
  })
}

function dismissManyRoute(parts: AdminParts): Route {
  return defineRoute({
    method: 'post',
    path: '/v1/dead-letters/dismiss',
    operationId: 'dismissAllDeadLetters',
    tag,
    summary: 'Dismiss the dead letters that a filter selects',
    description: `Dismisses up to ${AT_ONCE} dead letters, oldest first, each as POST /v1/dead-letters/{id}/dismiss does. Repeat the request with \`cursor\` to continue; repeating a request changes nothing.`,
    scope: 'manage',
    body: SelectDeadLetters,
    answers: { 202: { description: 'The dead letters are dismissed', schema: DismissedDeadLetters } },
    refusals: ['not_found'],
    async handle(request) {
      const { possible, ...rest } = await selectDeadLetters(parts, request, dismissalBlockedBy)
      await dismissDeadLetters(possible, request, parts)
      return { status: 202, body: { dismissed: possible.length, ...rest } }
    },
  })
}

/** @throws AppError `not_found`, `forbidden` */
async function requireDeadLetter({ stores }: AdminParts, principal: Principal, id: string): Promise<FoundDeadLetter> {
  const found = await findDeadLetter(stores, id)
  if (found === undefined) throw notFound('dead letter', id)
  checkReach(principal, projectOf(found), 'dead letter', id)
  return found
}

type SelectionRequest = Pick<
  RouteRequest<never, never, z.output<typeof SelectDeadLetters>>,
  'body' | 'principal' | 'now' | 'cursors'
>

/** The oldest dead letters of the filter: those for which the action is possible, and those for which it is blocked. */
async function selectDeadLetters(
  { stores }: Pick<AdminParts, 'stores'>,
  { body, ...request }: SelectionRequest,
  blockedBy: (found: FoundDeadLetter) => string | null,
) {
  const filter = restrictToProject(request.principal, body.project_id)
  if (filter.kind === 'refused') throw projectRefused(filter.reason, body.project_id, 'body.project_id')
  const { from, before = request.now } = windowOf(body)
  const cursor = request.cursors.verify(ReplayCursor, body.cursor)
  const end = cursor?.before ?? before
  const found = await pageDeadLetters(stores, {
    where: filter.where,
    kind: body.kind,
    window: { from, before: new Date(Math.min(end.getTime(), before.getTime())) },
    oldestFirst: true,
    after: cursor,
    limit: AT_ONCE + 1,
  })
  const signPlace = (last: FoundDeadLetter) => request.cursors.sign(ReplayCursor, { ...placeOf(last), before: end })
  const { data, next_cursor } = buildPage(found, AT_ONCE, signPlace, letter => letter)
  const blocked = data.flatMap(letter => {
    const reason = blockedBy(letter)
    return reason === null ? [] : [{ dead_letter_id: placeOf(letter).id, reason }]
  })
  return { possible: data.filter(letter => blockedBy(letter) === null), blocked, next_cursor }
}
