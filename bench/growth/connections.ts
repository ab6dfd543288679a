/** Measures the reconciler and ingress with one and with many billing connections. */
import type { BenchSurroundings, Comparison, Contender } from '../frame/benchmark.ts'
import { openIngressAlone } from '../ingress/ingress-alone.ts'
import { type LoadGenerator, startLoadGenerator } from '../ingress/load.ts'
import { measureWith, READINGS as OF_INGRESS, SOCKETS } from '../ingress/measure.ts'
import { watchHeap } from './heap.ts'
import { CONNECTIONS, FEW, type Histories, MOST_CONNECTIONS } from './histories.ts'
import { READINGS } from './judging.ts'

const COUNTS = [1, CONNECTIONS, MOST_CONNECTIONS]
const [, SOME, MANY] = COUNTS.map(count => nameOf(count)) as [string, string, string]
const MANY_SOCKETS = 1_000
const EVENTS = 16_384
const LEAST_SHARE = 0.95
const LEAST_SHARE_OF_SOCKETS = 0.9
const MOST_HEAP = 150

function nameOf(count: number): string {
  return `${count.toLocaleString('en')} ${count === 1 ? 'connection' : 'connections'}`
}

export function compareReconcilerConnections(histories: Histories): Comparison {
  return {
    name: 'Reconciler with 1 to 10,000 billing connections',
    readings: READINGS,
    contenders: COUNTS.map(connections => ({
      name: nameOf(connections),
      measure: () => histories.measure({ count: FEW, connections }),
    })),
    targets: [
      { reading: 'events', of: MANY, against: SOME, is: 'at least', value: LEAST_SHARE },
      { reading: 'largest heap', of: MANY, is: 'at most', value: MOST_HEAP },
    ],
  }
}

interface Connected {
  readonly connections: number
  readonly sockets: number
}

export function compareIngressConnections(surroundings: BenchSurroundings): Comparison & { stop(): Promise<void> } {
  const settings = { MAX_SOCKETS_PER_ADDRESS: '5000' }
  let opened: ReturnType<typeof open> | undefined
  const manySockets = `${nameOf(CONNECTIONS)}, ${MANY_SOCKETS.toLocaleString('en')} sockets`
  return {
    name: 'Ingress with 1 to 10,000 billing connections, and 64 to 1,000 sockets',
    readings: { ...OF_INGRESS, 'largest heap': 'MB' },
    contenders: [
      ...COUNTS.map(
        (connections): Contender => ({
          name: nameOf(connections),
          measure: () => measure({ connections, sockets: SOCKETS }),
        }),
      ),
      { name: manySockets, measure: () => measure({ connections: CONNECTIONS, sockets: MANY_SOCKETS }) },
    ],
    targets: [
      { reading: 'answers', of: MANY, against: SOME, is: 'at least', value: LEAST_SHARE },
      { reading: 'answers', of: manySockets, against: SOME, is: 'at least', value: LEAST_SHARE_OF_SOCKETS },
      { reading: 'largest heap', of: MANY, is: 'at most', value: MOST_HEAP },
      { reading: 'largest heap', of: manySockets, is: 'at most', value: MOST_HEAP },
    ],
    async stop() {
      const { ingress, load } = (await opened) ?? {}
      await load?.stop()
      await ingress?.close()
    },
  }

  async function open(): Promise<{ ingress: Awaited<ReturnType<typeof openIngressAlone>>; load: LoadGenerator }> {
    const ingress = await openIngressAlone('bench-growth-ingress', surroundings, settings, MOST_CONNECTIONS)
    return { ingress, load: startLoadGenerator(surroundings.folder) }
  }

  async function measure(connected: Connected): ReturnType<Contender['measure']> {
    opened ??= open()
    const { ingress, load } = await opened
    let largestHeap = async () => Number.NaN
    let heap = Number.NaN
    const readings = await measureWith(load, { events: EVENTS, isAuthentic: true, ...connected })(async () => {
      const server = await ingress.start()
      largestHeap = watchHeap([ingress])
      const stop = async () => {
        heap = await largestHeap()
        await server.stop()
      }
      return { ...server, stop }
    })
    return { ...readings, 'largest heap': heap }
  }
}
