import { createHmac } from 'node:crypto'
import { HEARTBEAT } from '@backstop/contracts'
import { type Clock, createPeriodic, type Periodic } from '@backstop/kit/clock'
import type { Secret } from '@backstop/kit/config'
import type { OperatorClient } from '@backstop/kit/http'
import type { Logger } from '@backstop/kit/logger'
import { PROVIDERS } from '@backstop/providers'
import { type HeartbeatConnectionParts, openHeartbeatConnection } from './heartbeat-connection.ts'
import { dueHeartbeat, heartbeatEvent } from './rules/heartbeat-event.ts'
import type { SendResult } from './rules/heartbeat-report.ts'

export interface HeartbeatSenderOptions extends HeartbeatConnectionParts {
  readonly client: OperatorClient
  readonly ingressUrl: string
  readonly everyMs: number
  readonly tickMs: number
  readonly clock: Clock
  readonly logger: Logger
  onSent(result: SendResult): void
}

/** The header of the card processor's signature. */
const SIGNATURE_HEADER = PROVIDERS.processor.credentialHeaders[0] ?? ''

/** Sends each heartbeat when it is due, and again at each tick until ingress accepts it or the next one is due. */
export function createHeartbeatSender(options: HeartbeatSenderOptions): Periodic {
  const { clock, logger, everyMs, tickMs, onSent } = options
  let acceptedMs: number | undefined
  let secret: Secret | undefined

  async function send(atMs: number): Promise<SendResult> {
    try {
      // Kept, so that heartbeats are sent while MongoDB is unavailable.
      secret ??= await openHeartbeatConnection(options, new Date(clock.now()))
      const { status, text } = await post(options, heartbeatEvent(atMs).body, secret)
      if (status >= 200 && status < 300) return { kind: 'accepted' }
      // Somebody may have rotated the secret, or deleted the connection.
      if (status < 500) secret = undefined
      return { kind: 'failed', error: `ingress answers ${status} ${text.replaceAll(/\s+/g, ' ').trim()}`.trim() }
    } catch (error) {
      return { kind: 'failed', error: error instanceof Error ? error.message : String(error) }
    }
  }

  return createPeriodic({
    clock,
    pauseMs: tickMs,
    async run() {
      const atMs = dueHeartbeat(clock.now(), everyMs)
      if (atMs === acceptedMs) return
      const result = await send(atMs)
      if (result.kind === 'accepted') acceptedMs = atMs
      else logger.warn({ error: result.error }, 'heartbeat.not_sent')
      onSent(result)
    },
    onFailure: error => logger.error({ error }, 'heartbeat.fault'),
  })
}

function post({ client, ingressUrl, clock }: HeartbeatSenderOptions, body: string, secret: Secret) {
  const timestampS = Math.floor(clock.now() / 1000)
  const signature = createHmac('sha256', secret.reveal()).update(`${timestampS}.${body}`).digest('hex')
  return client.send({
    url: `${ingressUrl.replace(/\/$/, '')}/v1/webhooks/processor/${HEARTBEAT.connectionId}`,
    method: 'POST',
    headers: { 'content-type': 'application/json', [SIGNATURE_HEADER]: `t=${timestampS},v1=${signature}` },
    body,
  })
}
