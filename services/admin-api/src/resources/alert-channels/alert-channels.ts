import {
  AlertChannel,
  AlertChannelQuery,
  type ChannelDocument,
  ChannelTestResult,
  NewAlertChannel,
} from '@backstop/channels'
import type { ProjectDocument } from '@backstop/contracts'
import { AppError } from '@backstop/kit/errors'
import { storeNew } from '../../http/change-document.ts'
import { findActiveProject, findChannel, projectFilterOf } from '../../http/find-resource.ts'
import { itemRoute, pagedRoute } from '../../http/read-routes.ts'
import { defineRoute, type Route, versionedAnswer } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'
import type { Collection } from '../../store/collection.ts'
import { changeChannel, changeChannelRoute, rotateChannelSecretRoute } from './change-alert-channel.ts'
import { checkFilter, checkQuietHours, checkTarget, findDeafChannels } from './check-channel.ts'
import { deletedChannel, showChannel } from './rules/alert-channel.ts'
import { decideChannelTest } from './rules/channel-test-limit.ts'
import { ChannelSealer } from './seal-channel-config.ts'

const tag = 'Alert channels'

/** /v1/alert-channels */
export function alertChannelRoutes(parts: AdminParts): Route[] {
  const { channels, channelHealth } = parts.stores
  return [
    pagedRoute({
      path: '/v1/alert-channels',
      operationId: 'listAlertChannels',
      tag,
      summary: 'List alert channels, newest first',
      items: 'channels',
      query: AlertChannelQuery,
      schema: AlertChannel,
      async page({ query, principal }, place) {
        const where = { deleted_at: null, ...projectFilterOf(principal, query.project_id) }
        const found = await channels.page({ where, by: 'created_at', ...place })
        const ids = found.map(({ _id }) => _id)
        const [health, deaf] = await Promise.all([
          channelHealth.findAll({ _id: { in: ids } }),
          findDeafChannels(parts.stores, found),
        ])
        const healthOf = new Map(health.map(document => [document._id, document]))
        return found.map(channel => ({ channel, health: healthOf.get(channel._id), isDeaf: deaf.has(channel._id) }))
      },
      placeOf: ({ channel }) => ({ at: channel.created_at, id: channel._id }),
      show: ({ channel, health, isDeaf }, { now }) => showChannel(channel, health, now, isDeaf),
    }),
    createRoute(parts),
    itemRoute({
      path: '/v1/alert-channels/{id}',
      operationId: 'getAlertChannel',
      tag,
      summary: 'Get an alert channel with its health',
      item: 'channel',
      schema: AlertChannel,
      isVersioned: true,
      find: ({ params, principal }) => findChannel({ channels }, principal, params.id),
      show: async (channel, { now }) => showWithHealth(parts.stores, channel, now),
    }),
    changeChannelRoute(parts),
    deleteRoute(),
    rotateChannelSecretRoute(parts),
    testRoute(parts),
  ]
}

function createRoute(parts: AdminParts): Route {
  const { stores } = parts
  const sealer = new ChannelSealer(parts.secretBox)
  return defineRoute({
    method: 'post',
    path: '/v1/alert-channels',
    operationId: 'createAlertChannel',
    tag,
    summary: 'Create an alert channel',
    description:
      'The `webhook_url` of slack, and the `secret` and the values of the `headers` of webhook, are never shown again. If there is a secret, each delivery is signed (X-Service-Signature and the Standard Webhooks headers).',
    scope: 'manage',
    body: NewAlertChannel,
    answers: { 201: { description: 'The channel; its version is the ETag', schema: AlertChannel } },
    refusals: ['not_found', 'egress_blocked'],
    async handle(request) {
      const { body, now } = request
      const project = await findActiveProject(stores, request.principal, body.project_id)
      checkTarget(parts, body.config.kind, body.config)
      checkQuietHours(body.config.kind, body.quiet_hours)
      await checkFilter(stores, project._id, body.filter)
      const id = request.newId('channel')
      const channel: ChannelDocument = {
        _id: id,
        project_id: project._id,
        name: body.name,
        events: body.events,
        config: sealer.sealNew(body.config, { id, projectId: project._id }),
        shows_personal_data: body.shows_personal_data,
        filter: body.filter,
        quiet_hours: body.quiet_hours,
        enabled: true,
        version: 1,
        created_at: now,
        updated_at: now,
        deleted_at: null,
      }
      await storeNew(request, ({ channels }) => channels, channel, 'alert_channel.create')
      return versionedAnswer(201, showChannel(channel, undefined, now))
    },
  })
}

function deleteRoute(): Route {
  return defineRoute({
    method: 'delete',
    path: '/v1/alert-channels/{id}',
    operationId: 'deleteAlertChannel',
    tag,
    summary: 'Delete an alert channel',
    description: 'Sends no more deliveries through the channel and erases its secrets and addresses.',
    scope: 'manage',
    answers: { 204: { description: 'The alert channel is deleted' } },
    honoursIfMatch: true,
    async handle(request) {
      await changeChannel(request, 'alert_channel.delete', channel => deletedChannel(channel, request.now))
      return { status: 204 }
    },
  })
}

function testRoute(parts: AdminParts): Route {
  return defineRoute({
    method: 'post',
    path: '/v1/alert-channels/{id}/test',
    operationId: 'testAlertChannel',
    tag,
    summary: 'Send a test delivery through an alert channel',
    description:
      'Makes one attempt the same way as every delivery, without a retry and without effect on the health of the channel, and waits up to 25 s for its outcome. A channel is tested once in 10 s, and the channels of a project 60 times in an hour. 200 means that the test ran; `delivered` is its outcome.',
    scope: 'manage',
    answers: { 200: { description: 'The outcome of the test', schema: ChannelTestResult } },
    refusals: ['rate_limited'],
    async handle({ params, principal, newId, signal, now, change }) {
      const channel = await findChannel(parts.stores, principal, params.id)
      const { _id: target, project_id: projectId } = channel
      const ids = { delivery: newId('delivery'), alert: newId('alert') }
      // Every replica counts the tests in the same document, so two tests at once are one after the other.
      await change(
        ({ projects }) => countTest(projects, channel, now),
        () => ({ action: 'alert_channel.test', target, projectId, changes: [] }),
      )
      return { status: 200, body: await parts.channelTester.test(channel, ids, signal) }
    },
  })
}

/** @throws AppError `rate_limited` */
async function countTest(projects: Collection<ProjectDocument>, channel: ChannelDocument, now: Date): Promise<void> {
  const where = { _id: channel.project_id }
  const decision = decideChannelTest((await projects.find(where))?.channel_tests ?? [], channel._id, now)
  if (decision.kind === 'allowed') {
    await projects.change(where, { channel_tests: decision.tests })
    return
  }
  const { limit, retryAfterS } = decision
  const what =
    limit === 'channel'
      ? 'This channel was tested a moment ago'
      : 'The channels of this project were tested 60 times in the last hour'
  throw new AppError('rate_limited', `${what}; retry in ${retryAfterS} s`, { retryable: true, retryAfterS })
}

async function showWithHealth(
  stores: AdminParts['stores'],
  channel: ChannelDocument,
  now: Date,
): Promise<AlertChannel> {
  const deaf = await findDeafChannels(stores, [channel])
  return showChannel(channel, await stores.channelHealth.find({ _id: channel._id }), now, deaf.has(channel._id))
}
