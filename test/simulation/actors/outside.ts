import type { Egress, EgressRequest, EgressResponse } from '@backstop/kit/egress'
import { egressFailed } from '../../../packages/kit/src/egress/failure.ts'
import type { SimulatedProcess } from '../world/process.ts'
import type { Random } from '../world/random.ts'
import type { Scheduler } from '../world/scheduler.ts'
import { request, serverOn } from '../world/simulated-http.ts'
import type { Swarm } from '../world/swarm.ts'
import type { Truth } from './truth.ts'

const HANG_MS = 20_000

export interface OutsideParts {
  readonly truth: Truth
  readonly random: Random
  readonly scheduler: Scheduler
  readonly swarm: () => Swarm
}

/** The network outside of the product: the providers' APIs on loopback, and the customers' receivers of alerts. */
export function outsideOf(process: SimulatedProcess, parts: OutsideParts): Egress {
  return {
    checkUrl: () => undefined,
    request(asked) {
      const { hostname, port } = new URL(asked.url)
      const isProvider = hostname === '127.0.0.1'
      const command = {
        server: isProvider ? 'provider' : 'receiver',
        name: isProvider ? 'provider' : hostname,
        isWrite: !isProvider,
        broken: reset,
      } as const
      return process.wire.call(command, () =>
        isProvider ? askProvider(asked, Number(port), parts) : deliver(asked, hostname, parts),
      )
    },
    stop: async () => {},
  }
}

const reset = () => egressFailed('connection_lost')

/** Providers fail, are too slow, and limit rates. */
async function askProvider(
  { url, method, headers, body }: EgressRequest,
  port: number,
  { random, swarm, scheduler }: OutsideParts,
): Promise<EgressResponse> {
  if (random.chance(swarm().providerFaults)) {
    const fault = random.pick(['hang', 'failing', 'limited'] as const)
    if (fault === 'failing') return answer(503)
    if (fault === 'limited') return answer(429)
    await pause(scheduler, HANG_MS)
    throw egressFailed('deadline')
  }
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

/** Receivers answer, refuse, hang, or take a message and lose the answer. */
async function deliver(
  { headers, body }: EgressRequest,
  channel: string,
  { truth, random, scheduler, swarm }: OutsideParts,
): Promise<EgressResponse> {
  const fault = random.chance(swarm().receiverFaults) ? random.pick(['refuse', 'hang', 'lose'] as const) : 'none'
  if (fault === 'none' || fault === 'lose') {
    truth.received.push({
      channel,
      webhookId: headers['webhook-id'] ?? '',
      body: String(body),
      atMs: scheduler.now,
      isAnswered: fault === 'none',
    })
  }
  if (fault === 'refuse') return answer(500)
  if (fault === 'none') return answer(200)
  await pause(scheduler, fault === 'hang' ? HANG_MS : 0)
  throw egressFailed(fault === 'hang' ? 'deadline' : 'connection_lost')
}

function answer(status: number): EgressResponse {
  return { status, headers: {}, body: Buffer.alloc(0), complete: true }
}

function pause(scheduler: Scheduler, ms: number): Promise<void> {
  return new Promise(resolve => void scheduler.schedule(ms, resolve))
}
