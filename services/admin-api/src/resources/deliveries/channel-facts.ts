import type { ChannelDocument } from '@backstop/channels'
import type { ChannelHealthDocument } from '@backstop/contracts'
import { AppError } from '@backstop/kit/errors'
import type { DocumentFilter, ReadCollection } from '../../store/collection.ts'
import type { ReadCollections } from '../../store/stores.ts'
import { type ChannelFacts, type ResendVerdict, resendRefusal } from './rules/delivery.ts'

type Filter = DocumentFilter<ChannelDocument> & DocumentFilter<ChannelHealthDocument>

/** The channels of deliveries together with their health, which has the same id. */
export function createChannelFacts({
  channels,
  channelHealth,
}: Pick<ReadCollections, 'channels' | 'channelHealth'>): Pick<ReadCollection<ChannelFacts>, 'findAll'> {
  return {
    async findAll({ _id }) {
      const where: Filter = { _id }
      const [found, healths] = await Promise.all([channels.findAll(where), channelHealth.findAll(where)])
      const healthOf = new Map(healths.map(health => [health._id, health]))
      const facts = found.map(channel => ({ _id: channel._id, channel, health: healthOf.get(channel._id) }))
      const known = new Set(found.map(({ _id: id }) => id))
      const alone = healths.filter(({ _id: id }) => !known.has(id))
      return [...facts, ...alone.map(health => ({ _id: health._id, channel: undefined, health }))]
    },
  }
}

/** @param what the consequence in words: "Delivery dlv_1 is not sent again" @throws AppError `conflict` with the reason */
export function refuseResend(verdict: ResendVerdict, what: string): void {
  const refusal = resendRefusal(verdict)
  if (refusal !== null) throw new AppError('conflict', `${what}: ${refusal}`)
}
