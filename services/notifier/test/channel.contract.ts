/** The suite that every kind of channel passes (docs/adding-a-channel.md), on real sockets. */
import type { ChannelDocument } from '@backstop/channels'
import type { Mailer } from '@backstop/channels/deliver'
import { alert } from '@backstop/channels/test'
import { afterAll, describe, expect, test } from 'vitest'
import { ATTEMPT_MS, type Attempted, attemptDelivery, createLoopbackEgress } from './real-receivers.ts'

/**
 * The behaviours of a receiver. `fails`: answers with a temporary error. `is_gone`: answers that it is permanently
 * gone. `echoes`: fails, and repeats the request and every secret of the channel.
 */
export const BEHAVIOURS = [
  'accepts',
  'fails',
  'is_gone',
  'is_away',
  'resets',
  'hangs',
  'talks_nonsense',
  'echoes',
] as const
export type Behaviour = (typeof BEHAVIOURS)[number] | 'asks_to_wait'

/** A running receiver, and a channel that sends to it. */
export interface ChannelEndpoint {
  readonly channel: ChannelDocument
  /** The mail client; only for kinds that send mail. */
  readonly mailer?: Mailer
  /**
   * The identity of each received message, in the order of arrival. Two attempts of one message have the same identity.
   */
  identities(): readonly string[]
  stop(): Promise<void>
}

/** The receivers for one kind of channel, on loopback. */
export interface ChannelReceivers {
  startReceiver(behaviour: Behaviour): Promise<ChannelEndpoint>
  /**
   * Secrets of the channel, and of the installation if the kind needs any. A long secret is listed as its credential
   * part only (without scheme, name or path), because receivers may repeat that part alone.
   */
  readonly secrets: readonly string[]
  /** True if a receiver of this kind can ask for a pause. The behaviour `asks_to_wait` asks for two minutes. */
  readonly canAskToWait: boolean
  /** The same channel with a secret that cannot be decrypted; undefined for a kind that stores no secret. */
  readonly unreadable?: (channel: ChannelDocument) => ChannelDocument
}

/** Extra time for a busy machine, in milliseconds. */
const GRACE_MS = 10_000

export function describeChannel(kind: string, receivers: ChannelReceivers): void {
  const egress = createLoopbackEgress()
  afterAll(() => egress.stop())

  async function deliverTo(
    behaviour: Behaviour,
    options: Parameters<typeof attemptDelivery>[2] = {},
    change: (channel: ChannelDocument) => ChannelDocument = channel => channel,
  ): Promise<Attempted & { identities: readonly string[] }> {
    const { channel, mailer, identities, stop } = await receivers.startReceiver(behaviour)
    try {
      const ports = mailer === undefined ? { egress } : { egress, mailer }
      const attempted = await attemptDelivery(change(channel), ports, options)
      return { ...attempted, identities: identities() }
    } finally {
      await mailer?.stop()
      await stop()
    }
  }
  /** One delivery per behaviour, shared by several tests, because hanging receivers take long. */
  const deliveries = new Map<Behaviour, ReturnType<typeof deliverTo>>()
  const deliverOnce = (behaviour: Behaviour) => {
    const meeting = deliveries.get(behaviour) ?? deliverTo(behaviour)
    deliveries.set(behaviour, meeting)
    return meeting
  }
  const faultsOf = ({ log }: Attempted) => log.filter(line => line.msg === 'delivery.fault')

  describe(`a channel of the kind ${kind}`, () => {
    test('delivers to a receiver that accepts', async () => {
      const { delivery, health, identities } = await deliverOnce('accepts')
      expect(delivery).toMatchObject({ state: 'delivered', attempts: [{ outcome: 'delivered', error: null }] })
      expect(health).toMatchObject({ last_error: null, disabled_at: null })
      expect(identities).toHaveLength(1)
    })

    test.each(['fails', 'is_away', 'resets', 'hangs', 'talks_nonsense', 'echoes'] as const)(
      'tries again where the receiver %s, and says why in words',
      async behaviour => {
        const attempted = await deliverOnce(behaviour)
        expect(attempted.delivery).toMatchObject({
          state: 'retrying',
          attempts: [{ outcome: 'failed', error: expect.stringMatching(/^[A-Z].{10,}[^.]$/s) }],
          next_attempt: { attempt: 2, topic: 'deliveries.retry.5s' },
        })
        expect(attempted.health?.disabled_at ?? null).toBeNull()
        // An answer of the receiver is never logged as a fault of the notifier.
        expect(faultsOf(attempted)).toEqual([])
      },
    )

    test('is disabled if the receiver is permanently gone, which ends the delivery', async () => {
      const { delivery, health } = await deliverOnce('is_gone')
      expect(delivery).toMatchObject({ state: 'dead', next_attempt: null })
      expect(health).toMatchObject({ disabled_at: expect.any(Date), disabled_reason: delivery.reason })
    })

    if (receivers.canAskToWait) {
      test('waits as long as it is asked to', async () => {
        const { delivery } = await deliverTo('asks_to_wait')
        expect(delivery).toMatchObject({ state: 'retrying', next_attempt: { topic: 'deliveries.retry.10m' } })
      })
    }

    test('has given up on a receiver that hangs when the time of the attempt is over', async () => {
      const { tookMs } = await deliverOnce('hangs')
      expect(tookMs).toBeGreaterThan(ATTEMPT_MS * 0.9)
      expect(tookMs).toBeLessThan(ATTEMPT_MS + GRACE_MS)
    })

    test('sends the same message at every attempt, and another one for another alert', async () => {
      const { delivery, identities } = await deliverTo('fails', { attempts: 2 })
      expect(delivery.attempts.map(row => row.attempt)).toEqual([1, 2])
      expect(new Set(identities).size).toBe(1)
      expect(identities.length).toBeGreaterThanOrEqual(2)
      const other = await deliverTo('fails', { sent: alert({ id: 'alr_other' }) })
      expect(other.identities).not.toContain(identities[0])
    })

    test.each(BEHAVIOURS)('leaks no secret into record, health or log where the receiver %s', async behaviour => {
      const { received } = await deliverOnce(behaviour)
      for (const secret of receivers.secrets) {
        for (const form of [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]) {
          expect(received).not.toContain(form)
        }
      }
    })

    if (receivers.unreadable !== undefined) {
      const { unreadable } = receivers
      test('whose secret does not open says so, and tries again', async () => {
        const { delivery, identities } = await deliverTo('accepts', {}, unreadable)
        expect(delivery).toMatchObject({
          state: 'retrying',
          attempts: [{ error: expect.stringContaining('stored secret cannot be opened') }],
        })
        expect(identities).toEqual([])
      })
    }
  })
}
