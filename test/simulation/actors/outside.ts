import type { Egress, EgressRequest, EgressResponse } from '@backstop/kit/egress'
import type { ProviderApi } from '@backstop/simulator'
import { egressFailed } from '../../../packages/kit/src/egress/failure.ts'
import type { SimulatedProcess } from '../world/process.ts'
import { request, serverOn } from '../world/simulated-http.ts'
import { type OutsideParts, Receivers } from './receivers.ts'

const HANG_MS = 20_000

/** The network outside of the product: the providers' APIs on loopback, and the customers' receivers of alerts. */
export class Outside {
  readonly receivers: Receivers
  readonly #parts: OutsideParts
  /** The ports of the providers' APIs that are down. */
  readonly #down = new Set<number>()
  readonly #providers = new Map<number, ProviderApi>()

  constructor(parts: OutsideParts) {
    this.#parts = parts
    this.receivers = new Receivers(parts)
  }

  /** Makes a provider's API known. Its own limits and errors are then used. */
  add(provider: ProviderApi): void {
    this.#providers.set(provider.port, provider)
  }

  setDown({ port }: ProviderApi, isDown: boolean): void {
    if (isDown) this.#down.add(port)
    else this.#down.delete(port)
  }

  egressOf(process: SimulatedProcess): Egress {
    return {
      checkUrl: () => undefined,
      request: asked => {
        const { hostname, port } = new URL(asked.url)
        const isProvider = hostname === '127.0.0.1'
        const command = {
          server: isProvider ? 'provider' : 'receiver',
          name: isProvider ? 'provider' : hostname,
          isWrite: !isProvider,
          broken: () => {
            if (!isProvider) this.receivers.noteFailure(asked, hostname)
            return egressFailed('connection_lost')
          },
        } as const
        return process.wire.call(command, () =>
          isProvider ? this.#askProvider(asked, Number(port)) : this.receivers.deliver(asked, hostname),
        )
      },
      stop: async () => {},
    }
  }

  /** Providers fail, are too slow, and limit rates, each with its own error bodies. */
  async #askProvider(asked: EgressRequest, port: number): Promise<EgressResponse> {
    const { random, swarm, happened } = this.#parts
    if (this.#down.has(port)) throw egressFailed('connect_refused')
    if (random.chance(swarm().providerFaults)) {
      const fault = random.pick(['hang', 'failing', 'limited', 'gateway', 'cut'] as const)
      happened(`a provider's API: ${fault}`)
      const provider = this.#providers.get(port)
      if (fault === 'failing') provider?.setTrouble({ kind: 'error', status: 503, times: 1 })
      if (fault === 'gateway') provider?.setTrouble({ kind: 'html', status: 502, times: 1 })
      const retryAfterS = random.between(1, 20)
      if (fault === 'limited') provider?.setTrouble({ kind: 'error', status: 429, retryAfterS, times: 1 })
      if (fault === 'cut') throw egressFailed('connection_lost')
      if (fault === 'hang') {
        await new Promise<void>(resolve => void this.#parts.scheduler.schedule(HANG_MS, resolve))
        throw egressFailed('deadline')
      }
    }
    return ask(asked, port)
  }
}

async function ask({ url, method, headers, body }: EgressRequest, port: number): Promise<EgressResponse> {
  const { pathname, search } = new URL(url)
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  const got = await request(serverOn(port), {
    method,
    path: pathname + search,
    headers: { host: '127.0.0.1', ...headers, ...length },
    body,
  })
  const gotHeaders = Object.fromEntries(Object.entries(got.headers).map(([name, value]) => [name, String(value)]))
  return { status: got.status, headers: gotHeaders, body: got.body, complete: true }
}
