import { Delivery, type DeliveryDocument, DeliveryQuery, listOf } from '@backstop/contracts'
import { z } from 'zod'
import { ownProject } from '../../access/rules/access.ts'
import { decodeCursor, toPage } from '../../http/cursor.ts'
import { notFound, projectFilter } from '../../http/found.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'
import { judgeRetry, showDelivery } from './rules/delivery.ts'
import { refuseSendingAgain } from './send-again.ts'

const tag = 'Deliveries'
const OfDelivery = z.object({ id: z.string() })

/** /v1/deliveries */
export function deliveryRoutes(parts: AdminParts): Route[] {
  return [listRoute(parts), getRoute(parts), retryRoute(parts)]
}

function listRoute({ stores }: AdminParts): Route {
  return defineRoute({
    method: 'get',
    path: '/v1/deliveries',
    operationId: 'listDeliveries',
    tag,
    summary: 'List deliveries, newest first',
    description:
      'One for each alert and channel, with every attempt. `state=dead` lists what did not arrive and is no longer tried: `reason` says why.',
    scope: 'read',
    query: DeliveryQuery,
    answers: { 200: { description: 'A page of deliveries', schema: listOf(Delivery) } },
    refusals: ['not_found'],
    async handle({ query, principal }) {
      const { channel_id, alert_id, state, from, to } = query
      const found = await stores.deliveries.page({
        where: { ...projectFilter(principal, query.project_id), channel_id, alert_id, state },
        by: 'created_at',
        window: { from: dateOf(from), before: dateOf(to) },
        after: decodeCursor(query.cursor),
        limit: query.limit + 1,
      })
      const placeOf = (delivery: DeliveryDocument) => ({ at: delivery.created_at, id: delivery._id })
      return { status: 200, body: toPage(found, query.limit, placeOf, showDelivery) }
    },
  })
}

function dateOf(time: string | undefined): Date | undefined {
  return time === undefined ? undefined : new Date(time)
}

function getRoute({ stores }: AdminParts): Route {
  return defineRoute({
    method: 'get',
    path: '/v1/deliveries/{id}',
    operationId: 'getDelivery',
    tag,
    summary: 'Read a delivery with each of its attempts',
    scope: 'read',
    params: OfDelivery,
    answers: { 200: { description: 'The delivery', schema: Delivery } },
    refusals: ['not_found'],
    async handle({ params, principal }) {
      const delivery = await stores.deliveries.find({ _id: params.id, ...ownProject(principal) })
      if (delivery === undefined) throw notFound('delivery', params.id)
      return { status: 200, body: showDelivery(delivery) }
    },
  })
}

function retryRoute({ stores, commands }: AdminParts): Route {
  return defineRoute({
    method: 'post',
    path: '/v1/deliveries/{id}/retry',
    operationId: 'retryDelivery',
    tag,
    summary: 'Attempt a delivery now',
    description:
      'One that waits for its next attempt has it at once; one that is dead begins its retries anew. The answer is the delivery as it stood: read it again to see what became of it.',
    scope: 'manage',
    params: OfDelivery,
    answers: { 202: { description: 'It is asked for', schema: Delivery } },
    refusals: ['not_found', 'conflict'],
    async handle({ params, principal, newId, now }) {
      const delivery = await stores.deliveries.find({ _id: params.id, ...ownProject(principal) })
      if (delivery === undefined) throw notFound('delivery', params.id)
      const { _id, project_id, channel_id } = delivery
      const channel = await stores.channels.find({ _id: channel_id, deleted_at: null })
      const health = await stores.channelHealth.find({ _id: channel_id })
      refuseSendingAgain(judgeRetry(delivery, channel, health), `Delivery ${_id} is not sent again`)
      const command_id = newId('command')
      const requested_at = now.toISOString()
      await commands.send([{ kind: 'retry_delivery', command_id, project_id, requested_at, delivery_id: _id }])
      const changed = { action: 'delivery.retry', target: _id, projectId: project_id }
      return { status: 202, body: showDelivery(delivery), changed }
    },
  })
}
