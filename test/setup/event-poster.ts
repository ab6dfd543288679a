/** A provider that posts signed events and, like real providers, posts those again that were not accepted. */
import { Agent, type OutgoingHttpHeaders, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { CreatedConnection } from '@backstop/contracts'
import { SIGNERS } from '@backstop/providers/test'
import { eventOf, type Refund } from './refunds.ts'

export const REPEAT_AFTER_MS = 500

export interface EventPoster {
  /**
   * Posts the event of a refund until it is accepted.
   * @param urlOf the URL for an attempt, counted from 0; the connection's own URL by default
   * @returns milliseconds from the first attempt to the answer 200
   * @throws Error after the last try
   */
  post(refund: Refund, connection: CreatedConnection, urlOf?: (attempt: number) => string): Promise<number>
  /** Failed attempts, by status or error code. */
  readonly failures: Readonly<Record<string, number>>
  stop(): void
}

/** @param options `sockets` is the number of keep-alive sockets; `tries` is unlimited by default */
export function createEventPoster({ sockets, tries }: { sockets: number; tries?: number }): EventPoster {
  const agent = new Agent({ keepAlive: true, maxSockets: sockets })
  const failures: Record<string, number> = {}
  const { header, sign } = SIGNERS.processor
  return {
    failures,
    async post(refund, { inbound_url, signing_secret }, urlOf = () => inbound_url) {
      const body = Buffer.from(JSON.stringify(eventOf(refund).body))
      const from = performance.now()
      for (let attempt = 0; attempt !== tries; attempt += 1) {
        const signature = sign(body, [signing_secret ?? ''], Date.now())
        const outcome = await postOnce(urlOf(attempt), body, { [header]: signature }, agent)
        if (outcome === '200') return performance.now() - from
        failures[outcome] = (failures[outcome] ?? 0) + 1
        await sleep(REPEAT_AFTER_MS)
      }
      throw new Error(`A valid event was never accepted: ${JSON.stringify(failures)}`)
    },
    stop: () => agent.destroy(),
  }
}

/** Posts once. @returns the status of the answer, or the code of the error */
export function postOnce(url: string, body: Buffer, headers: OutgoingHttpHeaders, agent: Agent): Promise<string> {
  return new Promise(resolve => {
    const outgoing = request(url, { method: 'POST', headers, agent, timeout: 10_000 }, response => {
      response.resume().on('end', () => resolve(String(response.statusCode)))
      response.on('error', () => resolve('broken_off'))
    })
    outgoing.on('timeout', () => outgoing.destroy(Object.assign(new Error('No answer'), { code: 'no_answer' })))
    outgoing.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'unknown'))
    outgoing.end(body)
  })
}
