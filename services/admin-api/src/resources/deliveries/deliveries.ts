import { Delivery, type DeliveryDocument, DeliveryQuery } from '@backstop/contracts'
import { findInProject, projectFilterOf } from '../../http/find-resource.ts'
import { getRoute, listRoute, windowOf } from '../../http/read-routes.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'
import { createChannelFacts, refuseResend } from './channel-facts.ts'
import { alertsOfIncident, alertsOfStorm } from './rules/alerts-of.ts'
import { type ChannelFacts, judgeRetry, showDelivery } from './rules/delivery.ts'

const tag = 'Deliveries'

/** /v1/deliveries */
export function deliveryRoutes(parts: AdminParts): Route[] {
  const { deliveries } = parts.stores
  const channelFacts = createChannelFacts(parts.stores)
  const resource = {
    path: '/v1/deliveries',
    tag,
    item: 'delivery',
    schema: Delivery,
    collection: deliveries,
    beside: channelFacts,
    idBeside: ({ channel_id }: DeliveryDocument) => channel_id,
    show: (delivery: DeliveryDocument, { now }: { readonly now: Date }, facts: ChannelFacts | undefined) =>
      showDelivery(delivery, facts, now),
  } as const
  return [
    listRoute({
      ...resource,
      operationId: 'listDeliveries',
      summary: 'List deliveries, newest first',
      description:
        'One delivery for each alert and channel, with its attempts. `state=dead` selects deliveries that failed and are no longer retried; `reason` says why. `held_until` is set while the channel is paused or has quiet hours.',
      items: 'deliveries',
      isStreamable: true,
      query: DeliveryQuery,
      sortedBy: 'created_at',
      filter: ({ channel_id, alert_id, event, state, test = false }) => ({ channel_id, alert_id, event, state, test }),
      async narrow({ query: { project_id, incident_id, storm_id }, principal }) {
        if (incident_id !== undefined) {
          const incident = await findInProject(parts.stores.incidents, principal, 'incident', incident_id)
          return { project_id: incident.project_id, alert_id: { in: alertsOfIncident(incident) } }
        }
        if (storm_id === undefined) return projectFilterOf(principal, project_id)
        const storm = await findInProject(parts.stores.storms, principal, 'storm', storm_id)
        return { project_id: storm.project_id, alert_id: { in: alertsOfStorm(storm) } }
      },
      window: windowOf,
    }),
    getRoute({ ...resource, operationId: 'getDelivery', summary: 'Get a delivery with its attempts' }),
    retryRoute(parts),
  ]
}

function retryRoute({ stores, commands }: AdminParts): Route {
  return defineRoute({
    method: 'post',
    path: '/v1/deliveries/{id}/retry',
    operationId: 'retryDelivery',
    tag,
    summary: 'Attempt a delivery now',
    description:
      'A delivery that waits for its next attempt is attempted immediately; a dead one starts its retries again. The answer shows the delivery before the attempt: read it again for the outcome.',
    scope: 'manage',
    answers: { 202: { description: 'The attempt is requested', schema: Delivery } },
    refusals: ['conflict'],
    async handle({ params, principal, newId, now, decideOnce }) {
      const body = await decideOnce(async () => {
        const delivery = await findInProject(stores.deliveries, principal, 'delivery', params.id)
        const { _id, channel_id } = delivery
        const channel = await stores.channels.find({ _id: channel_id, deleted_at: null })
        const health = await stores.channelHealth.find({ _id: channel_id })
        refuseResend(judgeRetry(delivery, channel, health), `Delivery ${_id} is not sent again`)
        return showDelivery(delivery, { _id: channel_id, channel, health }, now)
      })
      const { delivery_id, project_id } = body
      const command_id = newId('command')
      const requested_at = now.toISOString()
      await commands.send([{ kind: 'retry_delivery', command_id, project_id, requested_at, delivery_id }])
      const changed = { action: 'delivery.retry', target: delivery_id, projectId: project_id }
      return { status: 202, body, changed }
    },
  })
}
