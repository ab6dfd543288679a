import {
  AlertChannel,
  AlertChannelPatch,
  type ChannelDocument,
  ChannelSecretRotation,
  changesAnything,
  changesTarget,
  NOTHING_TO_CHANGE,
  RotatedAlertChannel,
  splitPatch,
} from '@backstop/channels'
import { type ChannelHealthDocument, deterministicId } from '@backstop/contracts'
import { Secret } from '@backstop/kit/config'
import { AppError } from '@backstop/kit/errors'
import { changeAudited, type VersionedChange } from '../../http/change-document.ts'
import { findChannel, refuseHeartbeat } from '../../http/find-resource.ts'
import { refusedField } from '../../http/refused-field.ts'
import { defineRoute, type Route, type RouteRequest, versionedAnswer } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'
import { checkFilter, checkQuietHours, checkTarget, findDeafChannels } from './check-channel.ts'
import { type ConfigPatchVerdict, findDifference, judgeConfigPatch, showChannel } from './rules/alert-channel.ts'
import { ChannelSealer, makeWebhookSecret } from './seal-channel-config.ts'

const REFUSALS: Record<Extract<ConfigPatchVerdict, { kind: 'refused' }>['reason'], string> = {
  of_another_kind: 'A channel of this kind has no such setting',
  headers_to_another_host:
    'Give all headers again, or {} to remove them: headers set for one host are not sent to another',
}

/** How long the route waits for the notifier to enable the channel, in milliseconds. */
const ENABLING_MS = 3_000

/** PATCH /v1/alert-channels/{id} */
export function changeChannelRoute(parts: AdminParts): Route {
  const { stores } = parts
  const sealer = new ChannelSealer(parts.secretBox)
  return defineRoute({
    method: 'patch',
    path: '/v1/alert-channels/{id}',
    operationId: 'changeAlertChannel',
    tag: 'Alert channels',
    summary: 'Change, enable or disable an alert channel',
    description:
      'Only the given fields of `config` change, and read-only fields may be sent back as GET answers them; `headers` and `to` are replaced as a whole. `enabled: true` or a new target (`url`, `webhook_url`, `routing_key`, `to`) also resets the failure count and re-enables a channel that its failures disabled; POST /v1/replays sends the deliveries that died meanwhile. POST …/rotate-secret changes the secret of a webhook. If-Match is optional.',
    scope: 'manage',
    body: AlertChannelPatch,
    answers: { 200: { description: 'The changed channel', schema: AlertChannel } },
    refusals: ['egress_blocked'],
    honoursIfMatch: true,
    async handle(request) {
      const { body, now, signal, principal, params } = request
      if (body.filter != null) {
        const { project_id } = await findChannel(stores, principal, params.id)
        await checkFilter(stores, project_id, body.filter)
      }
      const split = splitPatch(body)
      const { fields, config: patch, unchanged } = split
      const next = (channel: ChannelDocument) => {
        const { _id, project_id, config } = channel
        const differing = findDifference(showChannel(channel, undefined, now), unchanged)
        if (differing !== undefined) throw refusedField(`body.${differing}`, 'This field is read-only; remove it')
        if (!changesAnything(split)) throw refusedField('body', NOTHING_TO_CHANGE)
        checkQuietHours(config.kind, body.quiet_hours ?? null)
        if (patch === undefined) return fields
        const verdict = judgeConfigPatch(config, patch)
        if (verdict.kind === 'refused') throw refusedField(`body.config.${verdict.field}`, REFUSALS[verdict.reason])
        checkTarget(parts, config.kind, patch)
        return { ...fields, config: sealer.applyPatch(config, patch, { id: _id, projectId: project_id }) }
      }
      const changed = await changeChannel(request, 'alert_channel.change', next)
      const health = await stores.channelHealth.find({ _id: changed._id })
      const shouldResetFailures =
        body.enabled === true || (patch !== undefined && changesTarget(changed.config.kind, patch))
      const nextHealth = shouldResetFailures ? await resetFailures(parts, changed, health, now, signal) : health
      const deaf = await findDeafChannels(stores, [changed])
      return versionedAnswer(200, showChannel(changed, nextHealth, now, deaf.has(changed._id)))
    },
  })
}

/**
 * Asks the notifier, which owns the health of channels, to reset the failures of a channel, whether or not they have disabled it.
 * @returns the health after the reset; the health before it if the notifier does not answer in time
 */
async function resetFailures(
  { stores, commands, outcomes }: AdminParts,
  { _id: channelId, project_id }: ChannelDocument,
  health: ChannelHealthDocument | undefined,
  now: Date,
  signal: AbortSignal,
): Promise<ChannelHealthDocument | undefined> {
  const failedAt = health?.disabled_at ?? health?.failing_since ?? null
  if (failedAt === null) return health
  // The notifier keeps a failure that is newer than the request. The failure shown here must be reset even if the notifier's clock is
  // ahead.
  const requestedAt = new Date(Math.max(now.getTime(), failedAt.getTime()))
  await commands.send([
    {
      kind: 'enable_channel',
      command_id: deterministicId('command', 'enable_channel', channelId, failedAt.toISOString()),
      project_id,
      requested_at: requestedAt.toISOString(),
      channel_id: channelId,
    },
  ])
  const look = async () => {
    const present = await stores.channelHealth.find({ _id: channelId })
    const isReset = present?.disabled_at === null && present.failing_since?.getTime() !== failedAt.getTime()
    return isReset ? present : undefined
  }
  return (await outcomes.waitFor(look, ENABLING_MS, signal)) ?? health
}

const HOUR_MS = 3_600_000

/** POST /v1/alert-channels/{id}/rotate-secret */
export function rotateChannelSecretRoute(parts: AdminParts): Route {
  const { stores } = parts
  const sealer = new ChannelSealer(parts.secretBox)
  return defineRoute({
    method: 'post',
    path: '/v1/alert-channels/{id}/rotate-secret',
    operationId: 'rotateAlertChannelSecret',
    tag: 'Alert channels',
    summary: 'Rotate the signing secret of a webhook',
    description:
      'During the overlap (24 hours by default), deliveries carry the signatures of both secrets; a secret older than these two is dropped immediately. A webhook without a secret gets its first one. Only this answer shows the new secret.',
    scope: 'manage',
    body: ChannelSecretRotation,
    answers: {
      200: { description: 'The channel and its new secret', schema: RotatedAlertChannel, shownOnce: ['secret'] },
    },
    refusals: ['conflict'],
    async handle(request) {
      const { params, body, now } = request
      const secret = body.secret === undefined ? makeWebhookSecret() : new Secret(body.secret)
      // The health is read before the change: if a read failed after it, the caller would never see the new secret.
      const health = await stores.channelHealth.find({ _id: params.id })
      const rotate = ({ _id, project_id, config, updated_at }: ChannelDocument, doneAt?: Date) => {
        if (config.kind !== 'webhook') {
          throw new AppError('conflict', `Alert channel ${_id} has no secret: only webhook channels do`)
        }
        if (body.secret !== undefined && doneAt !== undefined) return undefined
        if (sealer.isSignedWith(config, secret)) {
          throw new AppError('conflict', 'This secret is already in use; give another one')
        }
        const place = { id: _id, projectId: project_id }
        const rotated = sealer.rotate(config, secret, place, body.overlap_hours * HOUR_MS, now)
        // Nobody saw the secret that a first attempt without an answer has made, so the one before it stays valid.
        const isUnseen = updated_at.getTime() === doneAt?.getTime()
        return { config: isUnseen ? { ...rotated, previous_secret: config.previous_secret ?? null } : rotated }
      }
      const changed = await changeChannel({ ...request, ifMatch: undefined }, 'alert_channel.rotate_secret', rotate)
      const deaf = await findDeafChannels(stores, [changed])
      const shown = showChannel(changed, health, now, deaf.has(changed._id))
      return versionedAnswer(200, { ...shown, secret: secret.reveal() })
    },
  })
}

/** Changes an alert channel with its audit row, if it still has the version that was read. The heartbeat's own is refused. */
export function changeChannel(
  request: Pick<
    RouteRequest<{ readonly id: string }, never, never>,
    'change' | 'params' | 'principal' | 'now' | 'ifMatch'
  >,
  action: string,
  next: VersionedChange<ChannelDocument>['next'],
): Promise<ChannelDocument> {
  const { id } = request.params
  return changeAudited(request, action, collections => ({
    collection: collections.channels,
    async find() {
      const found = await findChannel(collections, request.principal, id)
      refuseHeartbeat(found.project_id)
      return found
    },
    what: `alert channel ${id}`,
    next,
  }))
}
