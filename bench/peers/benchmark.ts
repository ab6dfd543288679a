/**
 * Measures ingress beside two other programs that receive webhooks. They are no part of the product, and CI does not run this:
 * stripe-sync-engine is installed into .backstop/peers, and WebhookX is measured only if WEBHOOKX is the path of its program.
 */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import type { Benchmark, Contender, Target } from '../frame/benchmark.ts'
import { startChild } from '../frame/children.ts'
import { openIngressAlone } from '../ingress/ingress-alone.ts'
import { type RequestForm, startLoadGenerator } from '../ingress/load.ts'
import { measureWith, READINGS, SECRET, type Server, SOCKETS } from '../ingress/measure.ts'
import { type Question, STORED_WITHIN_MS } from './answers.ts'
import { installPeers } from './install.ts'

/**
 * Number of different events: more than stripe-sync-engine receives in one measurement, because it stores an event that is posted
 * again only once.
 */
const EVENTS = 100_000
const WEBHOOKX_VERSION = '1.2.0'
const START_WITHIN_MS = 90_000

interface Peer {
  readonly name: RequestForm
  readonly script: URL
  /** The least number of events of ingress for one event of the peer. */
  readonly target: number
}

export const peersBenchmark: Benchmark = {
  name: 'peers',
  onRequest: true,
  about:
    'the events of ingress beside those of stripe-sync-engine, and of WebhookX if WEBHOOKX is the path of its program',
  async open({ stack, folder, log }) {
    const step = log.step('peers')
    step.update('installing, 70 MB')
    await installPeers()
    const peers = choosePeers(process.env)
    step.done(peers.map(({ name }) => name).join(', '))
    const ingress = await openIngressAlone('bench-peers', { stack, folder })
    const load = startLoadGenerator(folder)
    const measure = (form: RequestForm, start: () => Promise<Server>) => {
      const accepted = measureWith(load, { form, events: EVENTS, isAuthentic: true })
      return { name: form, measure: () => accepted(start) } satisfies Contender
    }
    const targets = peers.map(
      ({ name, target }): Target => ({
        reading: 'answers',
        of: 'ingress',
        against: name,
        is: 'at least',
        value: target,
      }),
    )
    return {
      comparisons: [
        {
          name: `Accepted events from ${SOCKETS} connections`,
          readings: READINGS,
          contenders: [
            measure('ingress', ingress.start),
            ...peers.map(peer => measure(peer.name, () => startPeer(peer, folder))),
          ],
          targets,
        },
      ],
      async stop() {
        await load.stop()
        await ingress.close()
      },
    }
  },
}

function choosePeers({ WEBHOOKX = '' }: NodeJS.ProcessEnv): Peer[] {
  const stripeSync: Peer = {
    name: 'stripe-sync-engine',
    script: new URL('stripe-sync-engine-main.ts', import.meta.url),
    target: 5,
  }
  if (WEBHOOKX === '') return [stripeSync]
  const version = execFileSync(WEBHOOKX, ['version'], { encoding: 'utf8' })
  if (!version.includes(WEBHOOKX_VERSION))
    throw new Error(`WEBHOOKX is not WebhookX ${WEBHOOKX_VERSION}: ${version.trim()}`)
  return [{ name: 'WebhookX', script: new URL('webhookx-main.ts', import.meta.url), target: 2.7 }, stripeSync]
}

/** Starts the script of a peer, which starts the peer and its databases. */
async function startPeer({ name, script }: Peer, folder: string): Promise<Server> {
  const child = startChild(script, { SECRET }, join(folder, `${name}.log`))
  return {
    port: await child.next<number>(START_WITHIN_MS),
    cpuMs: child.cpuMs,
    stored(atLeast) {
      child.send({ atLeast } satisfies Question)
      return child.next<number>(STORED_WITHIN_MS + 10_000)
    },
    stop: child.stop,
  }
}
