import {
  AlertChannel,
  AlertChannelQuery,
  type ChannelConfig,
  type ChannelDocument,
  ChannelTestResult,
  listOf,
  NewAlertChannel,
  type NewChannelConfig,
} from '@backstop/contracts'
import { Secret, type SecretContext } from '@backstop/kit'
import { z } from 'zod'
import { ownProject, type Principal } from '../domain/access.ts'
import { deletedChannel, showChannel } from '../domain/alert-channel.ts'
import type { AdminParts } from '../parts.ts'
import { decodeCursor, toPage } from './cursor.ts'
import { findProject, notFound, projectFilter } from './found.ts'
import { defineRoute, type Route } from './route.ts'

const tag = 'Alert channels'
const OfChannel = z.object({ id: z.string() })

/** /v1/alert-channels */
export function alertChannelRoutes(parts: AdminParts): Route[] {
  return [listRoute(parts), createRoute(parts), getRoute(parts), deleteRoute(parts), testRoute(parts)]
}

function listRoute({ stores }: AdminParts): Route {
  return defineRoute({
    method: 'get',
    path: '/v1/alert-channels',
    operationId: 'listAlertChannels',
    tag,
    summary: 'List alert channels, newest first',
    scope: 'read',
    query: AlertChannelQuery,
    answers: { 200: { description: 'A page of channels', schema: listOf(AlertChannel) } },
    refusals: ['not_found'],
    async handle({ query, principal }) {
      const where = { ...projectFilter(principal, query.project_id), deleted_at: null }
      const after = decodeCursor(query.cursor)
      const found = await stores.channels.page({ where, by: 'created_at', after, limit: query.limit + 1 })
      const placeOf = (channel: ChannelDocument) => ({ at: channel.created_at, id: channel._id })
      const health = await stores.channelHealth.findAll({ _id: { in: found.map(channel => channel._id) } })
      const healthOf = new Map(health.map(one => [one._id, one]))
      const show = (channel: ChannelDocument) => showChannel(channel, healthOf.get(channel._id))
      return { status: 200, body: toPage(found, query.limit, placeOf, show) }
    },
  })
}

function createRoute(parts: AdminParts): Route {
  const { stores } = parts
  return defineRoute({
    method: 'post',
    path: '/v1/alert-channels',
    operationId: 'createAlertChannel',
    tag,
    summary: 'Make an alert channel',
    description:
      'The `webhook_url` of slack and the `secret` of webhook are never shown again: only a fingerprint is. With a secret each delivery is signed (X-Service-Signature, and the Standard Webhooks headers).',
    scope: 'manage',
    body: NewAlertChannel,
    answers: { 201: { description: 'The channel', schema: AlertChannel } },
    refusals: ['not_found', 'egress_blocked'],
    async handle({ body, principal, newId, now }) {
      const project = await findProject(stores, principal, body.project_id)
      const url =
        body.config.kind === 'slack' ? body.config.webhook_url : 'url' in body.config ? body.config.url : undefined
      const blocked = url === undefined ? undefined : parts.checkUrl(url)
      if (blocked !== undefined) throw blocked
      const id = newId('channel')
      const channel: ChannelDocument = {
        _id: id,
        project_id: project._id,
        name: body.name,
        events: body.events,
        config: sealConfig(parts, body.config, { id, projectId: project._id }),
        enabled: true,
        created_at: now,
        updated_at: now,
        deleted_at: null,
      }
      await stores.channels.put(channel)
      const changed = { action: 'alert_channel.create', target: id, projectId: project._id }
      return { status: 201, body: showChannel(channel, undefined), changed }
    },
  })
}

function getRoute({ stores }: AdminParts): Route {
  return defineRoute({
    method: 'get',
    path: '/v1/alert-channels/{id}',
    operationId: 'getAlertChannel',
    tag,
    summary: 'Read an alert channel',
    scope: 'read',
    params: OfChannel,
    answers: { 200: { description: 'The channel', schema: AlertChannel } },
    refusals: ['not_found'],
    async handle({ params, principal }) {
      const channel = await findChannel(stores, principal, params.id)
      return { status: 200, body: showChannel(channel, await stores.channelHealth.find({ _id: channel._id })) }
    },
  })
}

function deleteRoute({ stores }: AdminParts): Route {
  return defineRoute({
    method: 'delete',
    path: '/v1/alert-channels/{id}',
    operationId: 'deleteAlertChannel',
    tag,
    summary: 'Delete an alert channel',
    description: 'Nothing is sent through it from then on; its secrets and addresses are erased.',
    scope: 'manage',
    params: OfChannel,
    answers: { 204: { description: 'It is gone' } },
    refusals: ['not_found'],
    async handle({ params, principal, now }) {
      const channel = await findChannel(stores, principal, params.id)
      const gone = await stores.channels.change({ _id: channel._id, deleted_at: null }, deletedChannel(channel, now))
      if (gone === undefined) throw notFound('alert channel', params.id)
      const changed = { action: 'alert_channel.delete', target: channel._id, projectId: channel.project_id }
      return { status: 204, changed }
    },
  })
}

function testRoute(parts: AdminParts): Route {
  return defineRoute({
    method: 'post',
    path: '/v1/alert-channels/{id}/test',
    operationId: 'testAlertChannel',
    tag,
    summary: 'Send a test delivery through a channel',
    description:
      'One attempt on the path of every delivery, without a retry and without effect on the health of the channel. Waits up to 25 s for what became of it. 200 says that the test ran; `delivered` says how it went.',
    scope: 'manage',
    params: OfChannel,
    answers: { 200: { description: 'What became of the test', schema: ChannelTestResult } },
    refusals: ['not_found'],
    async handle({ params, principal, newId, signal }) {
      const channel = await findChannel(parts.stores, principal, params.id)
      const ids = { delivery: newId('delivery'), alert: newId('alert') }
      const result = await parts.channelTester.test(channel, ids, signal)
      const changed = { action: 'alert_channel.test', target: channel._id, projectId: channel.project_id }
      return { status: 200, body: result, changed }
    },
  })
}

async function findChannel(stores: AdminParts['stores'], principal: Principal, id: string): Promise<ChannelDocument> {
  const channel = await stores.channels.find({ _id: id, deleted_at: null, ...ownProject(principal) })
  if (channel === undefined) throw notFound('alert channel', id)
  return channel
}

function sealConfig(
  { secretBox }: Pick<AdminParts, 'secretBox'>,
  config: NewChannelConfig,
  place: Pick<SecretContext, 'id' | 'projectId'>,
): ChannelConfig {
  const seal = (text: string, field: string) => {
    const secret = new Secret(text)
    const sealed = secretBox.seal(secret, { collection: 'channels', field, ...place })
    return { sealed, fingerprint: secretBox.fingerprint(secret) }
  }
  switch (config.kind) {
    case 'slack': {
      const { sealed, fingerprint } = seal(config.webhook_url, 'webhook_url')
      return { kind: 'slack', webhook_url: sealed, fingerprint }
    }
    case 'email':
      return config
    case 'webhook': {
      if (config.secret === undefined) return { kind: 'webhook', url: config.url, secret: null, fingerprint: null }
      const { sealed, fingerprint } = seal(config.secret, 'secret')
      return { kind: 'webhook', url: config.url, secret: sealed, fingerprint }
    }
    default:
      return config satisfies never
  }
}
