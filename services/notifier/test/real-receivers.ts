/** Deliveries over real sockets by a notifier whose Kafka, MongoDB and clock are in memory. */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { ChannelDocument } from '@backstop/channels'
import { type Mailer, noMailer } from '@backstop/channels/deliver'
import { alert } from '@backstop/channels/test'
import type { Alert, ChannelHealthDocument, DeliveryDocument } from '@backstop/contracts'
import { createEgress, type Egress } from '@backstop/kit/egress'
import { createLogger } from '@backstop/kit/logger'
import { until } from '@backstop/kit/test'
import { createMemoryNotifier } from './memory-notifier.ts'

/**
 * Time limit of one attempt in these tests, in milliseconds: shorter than in production, so that hanging attempts end
 * soon.
 */
export const ATTEMPT_MS = 3_000

/** The production HTTP client with loopback addresses allowed. */
export const createLoopbackEgress = (): Egress =>
  createEgress({
    allowCidrs: ['127.0.0.0/8'],
    denyCidrs: [],
    logger: createLogger('test', 'fatal'),
  })

/** The result of delivering one alert. */
export interface Attempted {
  readonly delivery: DeliveryDocument
  readonly health: ChannelHealthDocument | undefined
  readonly tookMs: number
  /** All records and log lines as one text. */
  readonly received: string
  readonly log: readonly Record<string, unknown>[]
}

/** Starts a notifier that makes `attempts` attempts to deliver an alert to the channel. */
export async function attemptDelivery(
  channel: ChannelDocument,
  ports: { egress: Egress; mailer?: Mailer },
  { attempts = 1, sent = alert() }: { attempts?: number; sent?: Alert } = {},
): Promise<Attempted> {
  const notifier = createMemoryNotifier({ mailer: noMailer, ...ports })
  notifier.collections.channels.set(channel._id, channel)
  const { stop } = await notifier.start({ attemptMs: ATTEMPT_MS })
  try {
    await notifier.clock.advance(100)
    await notifier.publish({ ...sent, created_at: new Date(notifier.clock.now()).toISOString() })
    const startedAtMs = performance.now()
    let seen = 0
    const delivery = await until(
      `attempt ${attempts} is recorded`,
      async () => {
        const found = notifier.deliveryOf(sent.alert_id, channel._id)
        const made = found?.attempts.length ?? 0
        if (made >= attempts) return found
        // Advances the virtual clock to the next rung (five seconds) after an attempt. During an attempt the clock
        // stands still.
        await notifier.clock.advance(made > seen ? 6_000 : 1)
        seen = made
        return undefined
      },
      { everyMs: 1, timeoutMs: 5_000 + attempts * ATTEMPT_MS },
    )
    const tookMs = performance.now() - startedAtMs
    await notifier.clock.settle()
    const health = notifier.collections.channelHealth.get(channel._id)
    const { log } = notifier
    const received = JSON.stringify([delivery, health, log, await notifier.commands(), notifier.fatal])
    return { delivery, health, tookMs, received, log }
  } finally {
    await stop()
  }
}

/** A TCP server without a protocol: `behave` receives each connection. */
export async function startRawServer(behave: (socket: Socket) => void) {
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    behave(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Number of open connections. */
    open: () => sockets.size,
    async stop() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
