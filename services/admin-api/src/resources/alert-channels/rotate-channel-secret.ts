import { type ChannelDocument, ChannelSecretRotation, RotatedAlertChannel } from '@backstop/channels'
import { Secret } from '@backstop/kit/config'
import { AppError } from '@backstop/kit/errors'
import { defineRoute, type Route, versionedAnswer } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'
import { changeChannel } from './change-channel.ts'
import { findDeafChannels } from './check-channel.ts'
import { showChannel } from './rules/alert-channel.ts'
import { ChannelSealer, makeWebhookSecret } from './seal-channel-config.ts'

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
      const rotate = ({ _id, project_id, config }: ChannelDocument) => {
        if (config.kind !== 'webhook') {
          throw new AppError('conflict', `Alert channel ${_id} has no secret: only webhook channels do`)
        }
        if (sealer.isSignedWith(config, secret)) {
          throw new AppError('conflict', 'This secret is already in use; give another one')
        }
        const place = { id: _id, projectId: project_id }
        return { config: sealer.rotate(config, secret, place, body.overlap_hours * HOUR_MS, now) }
      }
      const changed = await changeChannel({ ...request, ifMatch: undefined }, 'alert_channel.rotate_secret', rotate)
      const deaf = await findDeafChannels(stores, [changed])
      const shown = showChannel(changed, health, now, deaf.has(changed._id))
      return versionedAnswer(200, { ...shown, secret: secret.reveal() })
    },
  })
}
