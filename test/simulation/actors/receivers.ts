import type { EgressRequest, EgressResponse } from '@backstop/kit/egress'
import { egressFailed } from '../../../packages/kit/src/egress/failure.ts'
import type { Random } from '../world/random.ts'
import type { Scheduler } from '../world/scheduler.ts'
import type { World } from './world.ts'

const HANG_MS = 20_000
const CHAT_HOST = 'hooks.slack.com'

export interface OutsideParts extends Pick<World, 'truth' | 'swarm' | 'happened'> {
  readonly random: Random
  readonly scheduler: Scheduler
}

type Answer = 'take' | 'refuse' | 'hang' | 'lose' | 'late' | 'limit'

/** The customers' receivers: they answer, refuse, hang, answer late, limit the rate, or take a message and lose the answer. */
export class Receivers {
  readonly #parts: OutsideParts
  readonly #down = new Set<string>()
  readonly #removed = new Set<string>()
  /** Until when a receiver refuses messages because there were too many, in milliseconds since the epoch. */
  readonly #limitedUntil = new Map<string, number>()

  constructor(parts: OutsideParts) {
    this.#parts = parts
  }

  setDown(host: string, isDown: boolean): void {
    if (isDown) this.#down.add(host)
    else this.#down.delete(host)
  }

  /** From now on the receiver answers 410. That disables its channel. */
  remove(host: string): void {
    this.#removed.add(host)
  }

  /** An attempt that its receiver did not take, or whose answer was lost. The product has to repeat it. */
  noteFailure({ headers, body }: EgressRequest, host: string): void {
    if (host === CHAT_HOST) return
    this.#parts.truth.failedAttempts.push({
      channel: host,
      webhookId: headers['webhook-id'] ?? '',
      body: String(body),
    })
  }

  async deliver(asked: EgressRequest, host: string): Promise<EgressResponse> {
    try {
      const given = await this.#deliver(asked, host)
      if (given.status >= 300) this.noteFailure(asked, host)
      return given
    } catch (error) {
      this.noteFailure(asked, host)
      throw error
    }
  }

  async #deliver({ url, headers, body }: EgressRequest, host: string): Promise<EgressResponse> {
    const { truth, scheduler, happened } = this.#parts
    if (this.#down.has(host)) throw egressFailed('connect_refused')
    if (this.#removed.has(host)) {
      const channel = truth.channels.find(known => known.host === host)
      if (channel !== undefined) channel.ends ??= { fromMs: scheduler.now }
      happened('a receiver answered 410')
      return answer(410)
    }
    const chosen = this.#choose(host)
    if (chosen === 'refuse') return answer(500)
    if (chosen === 'limit') return answer(429, { 'retry-after': String(this.#secondsLeft(host)) })
    if (chosen === 'hang') {
      await this.#pause(HANG_MS)
      throw egressFailed('deadline')
    }
    const isAnswered = chosen !== 'lose'
    if (host === CHAT_HOST) truth.chats.push({ atMs: scheduler.now, host: url, body: String(body) })
    else {
      const webhookId = headers['webhook-id'] ?? ''
      truth.received.push({ channel: host, webhookId, body: String(body), atMs: scheduler.now, isAnswered })
    }
    if (chosen === 'lose') throw egressFailed('connection_lost')
    if (chosen === 'late') await this.#pause(this.#parts.random.between(1_000, 15_000))
    return answer(200, {}, 'ok')
  }

  #choose(host: string): Answer {
    const { random, swarm, scheduler, happened } = this.#parts
    if (this.#secondsLeft(host) > 0) return 'limit'
    if (!random.chance(swarm().receiverFaults)) return 'take'
    const chosen = random.pick(['refuse', 'hang', 'lose', 'late', 'limit'] as const)
    happened(`a receiver: ${chosen}`)
    if (chosen === 'limit') this.#limitedUntil.set(host, scheduler.now + random.between(1, 20) * 1_000)
    return chosen
  }

  #secondsLeft(host: string): number {
    return Math.ceil(Math.max(0, (this.#limitedUntil.get(host) ?? 0) - this.#parts.scheduler.now) / 1_000)
  }

  #pause(ms: number): Promise<void> {
    return new Promise(resolve => void this.#parts.scheduler.schedule(ms, resolve))
  }
}

function answer(status: number, headers: Record<string, string> = {}, body = ''): EgressResponse {
  return { status, headers, body: Buffer.from(body), complete: true }
}
